// Compiles fmt once for everything that is built here: see rehmc_fmt in CMakeLists.txt.
#include <fmt/format-inl.h>

// What fmt's headers declare but its library defines, for char and double, which is all we print.
FMT_BEGIN_NAMESPACE
namespace detail {
template auto dragonbox::to_decimal(float) -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) -> dragonbox::decimal_fp<double>;
template locale_ref::locale_ref(const std::locale&);
template auto locale_ref::get<std::locale>() const -> std::locale;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>,
                         locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
