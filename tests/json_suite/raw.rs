//! The cases of the suite that are not UTF-8. The npm package contains text and so has U+FFFD
//! instead. These are the bytes of <https://github.com/nst/JSONTestSuite>.

/// By name.
pub(crate) const RAW: [(&str, &[u8]); 28] = [
    (
        "i_string_UTF-16LE_with_BOM.json",
        b"\xFF\xFE[\0\"\0\xE9\0\"\0]\0",
    ),
    (
        "i_string_UTF-8_invalid_sequence.json",
        b"[\"\xE6\x97\xA5\xD1\x88\xFA\"]",
    ),
    ("i_string_UTF8_surrogate_U+D800.json", b"[\"\xED\xA0\x80\"]"),
    ("i_string_invalid_utf-8.json", b"[\"\xFF\"]"),
    ("i_string_iso_latin_1.json", b"[\"\xE9\"]"),
    ("i_string_lone_utf8_continuation_byte.json", b"[\"\x81\"]"),
    (
        "i_string_not_in_unicode_range.json",
        b"[\"\xF4\xBF\xBF\xBF\"]",
    ),
    ("i_string_overlong_sequence_2_bytes.json", b"[\"\xC0\xAF\"]"),
    (
        "i_string_overlong_sequence_6_bytes.json",
        b"[\"\xFC\x83\xBF\xBF\xBF\xBF\"]",
    ),
    (
        "i_string_overlong_sequence_6_bytes_null.json",
        b"[\"\xFC\x80\x80\x80\x80\x80\"]",
    ),
    ("i_string_truncated-utf-8.json", b"[\"\xE0\xFF\"]"),
    ("i_string_utf16BE_no_BOM.json", b"\0[\0\"\0\xE9\0\"\0]"),
    ("i_string_utf16LE_no_BOM.json", b"[\0\"\0\xE9\0\"\0]\0"),
    ("n_array_a_invalid_utf8.json", b"[a\xE5]"),
    ("n_array_invalid_utf8.json", b"[\xFF]"),
    ("n_number_invalid-utf-8-in-bigger-int.json", b"[123\xE5]"),
    ("n_number_invalid-utf-8-in-exponent.json", b"[1e1\xE5]"),
    ("n_number_invalid-utf-8-in-int.json", b"[0\xE5]\n"),
    ("n_number_real_with_invalid_utf8_after_e.json", b"[1e\xE5]"),
    (
        "n_object_lone_continuation_byte_in_key_and_trailing_comma.json",
        b"{\"\xB9\":\"0\",}",
    ),
    ("n_string_invalid-utf-8-in-escape.json", b"[\"\\u\xE5\"]"),
    ("n_string_invalid_utf8_after_escape.json", b"[\"\\\xE5\"]"),
    ("n_structure_incomplete_UTF8_BOM.json", b"\xEF\xBB{}"),
    ("n_structure_lone-invalid-utf-8.json", b"\xE5"),
    ("n_structure_single_eacute.json", b"\xE9"),
    ("string_1_invalid_codepoint.json", b"[\"\xED\xA0\x80\"]"),
    (
        "string_2_invalid_codepoints.json",
        b"[\"\xED\xA0\x80\xED\xA0\x80\"]",
    ),
    (
        "string_3_invalid_codepoints.json",
        b"[\"\xED\xA0\x80\xED\xA0\x80\xED\xA0\x80\"]",
    ),
];
