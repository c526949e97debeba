/* SPDX-License-Identifier: Apache-2.0 */
/* C++20 whose names are hard: compiled when the tests run, never run. */
#include <algorithm>
#include <array>
#include <compare>
#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#ifndef __clang__ /* 14 does not take this library's ranges */
#include <ranges>
#endif
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace hard {
template <class T> concept sized = requires(T t) { { t.size() } -> std::convertible_to<std::size_t>; };
template <class T> concept number = std::integral<T> || std::floating_point<T>;

struct point { int x, y; auto operator<=>(const point &) const = default; };
template <point P> int at() { return P.x + P.y; }
template <auto... V> auto sum() { return (V + ... + 0); }
template <class... T> auto all(T &&...t) -> decltype((... && t)) { return (... && t); }
template <class F, class... A> decltype(auto) call(F &&f, A &&...a) noexcept(noexcept(std::forward<F>(f)(std::forward<A>(a)...))) { return std::forward<F>(f)(std::forward<A>(a)...); }
template <sized T> auto measure(const T &t) requires(sizeof(T) > 1) { return t.size(); }
template <number T> T twice(T t) { return t + t; }
auto half(number auto n) { return n / 2; }
template <template <class...> class C, class... T> C<T...> make(T... t) { return C<T...>{t...}; }
template <class T, std::size_t N> std::size_t count(const T (&)[N]) { return N; }
template <class R, class C, class... A> auto member(R (C::*f)(A...) const &) { return f; }
template <int N> struct label { template <class T> operator T() const { return T(N); } };
template <class T> struct outer { struct inner { template <class U> auto get(U u) const volatile { return [u](auto x) { return x + u; }; } }; };
consteval int operator""_k(unsigned long long v) { return int(v) * 1000; }
template <char... C> int operator""_digits() { return sizeof...(C); }
template <class... B> struct mixed : B... { using B::operator()...; };
template <class... B> mixed(B...) -> mixed<B...>;
struct [[gnu::abi_tag("v2")]] tagged { [[gnu::abi_tag("x", "y")]] void f() {} int g(int) const & { return 1; } };
inline namespace v1 { void in() {} }
template <class T> std::enable_if_t<(sizeof(T) << 1 >= 8) && !std::is_pointer_v<T>, T> shift(T t) { return t; }
template <class T> auto field(T t) -> decltype(t.x, t.y ? &t.x : nullptr, static_cast<long>(t.x)) { return t.x; }
template <class T> auto fresh(T t) -> decltype(new T[2]{t, t}) { return new T[2]{t, t}; }
template <class T> auto index(T t) -> decltype(t[0], *t, -t[1], ~t[2]) { return ~t[2]; }
typedef float vector4 __attribute__((vector_size(16)));
vector4 vectors(vector4 a, vector4 b) { return a + b; }
_Complex float complexes(_Complex double *c) { return float(__real__ *c); }
void functions(void (*)(int), int (*(*)(char))[3], void (&)(), int (point::*)(), int point::*, const volatile void *, __int128, unsigned __int128, char8_t, char16_t, char32_t, wchar_t, std::nullptr_t, long double, ...) {}

auto lambdas(int n)
{
    auto a = [n](int x) { return x + n; };
    auto b = [=]<class T, std::size_t K>(std::array<T, K> t, auto... r) { return t[0] + (r + ... + n); };
    auto c = [&](auto f, auto &&...x) mutable { return f(std::forward<decltype(x)>(x)...); };
    struct local { int v; int get() const { return [this] { return v; }(); } };
    static const auto d = [](local l = {3}) { return l.get(); };
    return int(a(1) + b(std::array<int, 2>{1, 2}, 3, 4L) + c(a, 5)) + d() + [](auto... p) { return sizeof...(p); }(1, 2, 3);
}
template <class T> auto nested(T t)
{
    struct s { T t; auto f() { return [this](auto x) { struct u { decltype(x) y; T z() { return T(y); } }; return u{x}.z() + t; }(2); } };
    return s{t}.f();
}
void use()
{
    at<point{1, 2}>(); sum<1, 2u, 'c', true>(); sum<>(); all(true, 1, nullptr);
    call([](int x, auto y) { return x + y; }, 1, 2.0); measure(std::string{}); measure(std::vector<std::span<int>>{});
    twice(2); twice(2.5f); half(3L); make<std::tuple>(1, 'a', 2.0); make<std::vector>(3); count("abc"); count({1, 2, 3});
    member<int, tagged, int>(&tagged::g); (void)int(label<3>{}); (void)(double)(label<-4>{}); outer<int>::inner{}.get(3L)(4); 123_digits;
    mixed m{[](int) {}, [](char *) {}}; m(3); tagged{}.f(); in(); shift(3L); field(point{}); fresh('x'); index("abc");
    nested(3); nested('c'); lambdas(3);
    std::variant<int, std::string, std::vector<double>> v; std::visit([](auto &&x) { (void)x; }, v);
    std::map<std::string, std::function<int(const std::vector<std::optional<point>> &)>> map; map["a"] = [](auto &x) { return int(x.size()); };
#ifndef __clang__
    std::vector<int> n{3, 1, 2}; std::ranges::sort(n, std::greater{}, [](int x) { return -x; });
    for (int x : n | std::views::filter([](int i) { return i & 1; }) | std::views::transform([](int i) { return i * i; }) | std::views::take(2)) (void)x;
#endif
    auto u = std::unique_ptr<point, void (*)(point *)>(new point, [](point *p) { delete p; }); auto w = std::make_shared<std::tuple<int, char>>(1, 'a');
    std::apply([](auto... x) { return (x + ...); }, std::tuple{1, 2L, 3.0}); vector4 z{}; vectors(z, z); (void)std::bind(&point::x, std::placeholders::_1)(point{});
}
}
