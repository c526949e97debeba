// SPDX-License-Identifier: Apache-2.0
// Rust whose names are hard: compiled both ways when the tests run.
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

pub struct Maß<const N: usize, const C: char, const B: bool>(pub [u8; N]);
pub trait Go<'a> { type Out; fn go(&'a self) -> Self::Out; }
impl<'a, const N: usize, const C: char, const B: bool> Go<'a> for Maß<N, C, B> {
    type Out = &'a u8;
    #[inline(never)] fn go(&'a self) -> &'a u8 { &self.0[0] }
}
#[inline(never)] pub fn show<T: Debug + ?Sized>(t: &T) -> String { format!("{:?}", t) }
#[inline(never)] pub fn size<T>(t: T) -> usize { std::hint::black_box(&t); std::mem::size_of::<T>() }
pub mod straße { #[inline(never)] pub fn größer<T>(x: T) -> T { std::hint::black_box(x) } }
pub struct Small<const N: i8>;
pub struct Large<const N: u128>;

fn main() {
    println!("{} {}", Maß::<3, 'ß', true>([1, 2, 3]).go(), Maß::<3, '\'', false>([1, 2, 3]).go());
    println!("{} {} {}", show::<dyn Debug>(&5), show::<[i32]>(&[1, 2][..]), show::<str>("x"));
    println!("{} {}", show(&(1,)), show(&(1, 2u8, "x")));
    println!("{}", size::<for<'a, 'b> fn(&'a u8, &'b str) -> &'a u8>(|a, _| a));
    println!("{}", size::<unsafe extern "C" fn(*const u8, *mut i64)>(unsafe { std::mem::transmute(1usize) }));
    println!("{} {}", size(Small::<-5>), size(Large::<0x123456789abcdef0123456789>));
    println!("{}", size::<Box<dyn for<'a> Go<'a, Out = &'a u8> + Send>>(Box::new(Maß::<1, 'a', true>([1]))));
    println!("{}", size::<Box<dyn Iterator<Item = u8> + Send + 'static>>(Box::new(vec![1u8].into_iter())));
    println!("{} {} {}", size([[1u8; 4]; 3]), size::<&mut [u16]>(&mut []), straße::größer(3));
    let outer = |x: i32| { let inner = move |y: i32| x + y; size(inner) };
    println!("{} {}", size(outer), outer(3));
    let mut map: HashMap<String, BTreeMap<u8, Vec<Option<Result<(), Box<dyn std::error::Error>>>>>> = HashMap::new();
    map.insert("a".into(), BTreeMap::new());
    println!("{} {:?}", map.len(), std::thread::spawn(|| 5).join().unwrap());
}
