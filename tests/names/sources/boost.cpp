/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers and heterogeneous containers: the longest names that people have. */
#include <boost/fusion/include/std_pair.hpp>
#include <boost/hana.hpp>
#include <boost/spirit/include/qi.hpp>
#include <string>
#include <vector>

namespace qi = boost::spirit::qi;
namespace hana = boost::hana;

bool sums(const std::string &s, double &sum)
{
    auto b = s.begin();
    sum = 0;
    auto add = [&](double d) { sum += d; };
    return qi::phrase_parse(b, s.end(), (qi::double_[add] >> *(',' >> qi::double_[add])) | ('(' >> +qi::int_ >> ')'), qi::space);
}
bool words(const std::string &s, std::vector<std::pair<std::string, int>> &out)
{
    auto b = s.begin();
    qi::rule<std::string::const_iterator, std::string(), qi::space_type> word = qi::lexeme[+qi::alpha >> *(qi::alnum | qi::char_('_'))];
    return qi::phrase_parse(b, s.end(), (word >> '=' >> qi::int_) % ';', qi::space, out) && b == s.end();
}
int sizes()
{
    auto all = hana::make_tuple(1, 'a', std::string("x"), 2.5);
    auto pairs = hana::zip(all, hana::reverse(all));
    auto found = hana::filter(hana::tuple_t<int, char *, double, void>, [](auto t) { return hana::traits::is_pointer(t); });
    auto mapped = hana::fold_left(hana::transform(all, [](auto x) { return sizeof(x); }), 0, [](auto a, auto b) { return a + int(b); });
    return int(hana::size(pairs)) + int(hana::size(found)) + mapped;
}
