/* licenses.c - the notices of what is linked into an emitted program, as their licences ask for
 * them. ATTN2C_STATIC: the C library is inside; ATTN2C_STATIC_TEXT: so are utf8proc and PCRE2;
 * ATTN2C_STATIC_PICTURES: so are libpng and libjpeg-turbo; ATTN2C_STATIC_ZLIB: so is zlib;
 * ATTN2C_STATIC_SERVE: so is libevent. */
#include "program/commands.h"
#ifdef ATTN2C_STATIC_PICTURES
#include "program/picture/licenses.h"
#endif
#ifdef ATTN2C_STATIC_ZLIB
#include "program/speech/licenses.h"
#endif
#ifdef ATTN2C_STATIC_SERVE
#include "program/serve/licenses.h"
#endif

#define MIT_TERMS                                                                                            \
  "Permission is hereby granted, free of charge, to any person obtaining a copy\n"                           \
  "of this software and associated documentation files (the \"Software\"), to deal\n"                        \
  "in the Software without restriction, including without limitation the rights\n"                           \
  "to use, copy, modify, merge, publish, distribute, sublicense, and/or sell\n"                              \
  "copies of the Software, and to permit persons to whom the Software is\n"                                  \
  "furnished to do so, subject to the following conditions:\n"                                               \
  "\n"                                                                                                       \
  "The above copyright notice and this permission notice shall be included in all\n"                         \
  "copies or substantial portions of the Software.\n"                                                        \
  "\n"                                                                                                       \
  "THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR\n"                           \
  "IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,\n"                               \
  "FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE\n"                            \
  "AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER\n"                                 \
  "LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,\n"                          \
  "OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE\n"                          \
  "SOFTWARE.\n"

static const char attn2c_notice[] = "attn2c: MIT licence\n"
                                    "\n"
                                    "Copyright (c) the attn2c authors\n"
                                    "\n" MIT_TERMS;

#ifdef ATTN2C_WITH_LIBXSMM
static const char libxsmm_notice[] =
    "libxsmm 1.17: BSD-3-Clause licence\n"
    "\n"
    "Copyright (c) 2009-2021, Intel Corporation\n"
    "Copyright (c) 2012-2014, Technische Universitaet Muenchen\n"
    "Copyright (c) 2016-2019, Google Inc.\n"
    "\n"
    "Redistribution and use in source and binary forms, with or without\n"
    "modification, are permitted provided that the following conditions\n"
    "are met:\n"
    "1. Redistributions of source code must retain the above copyright\n"
    "   notice, this list of conditions and the following disclaimer.\n"
    "2. Redistributions in binary form must reproduce the above copyright\n"
    "   notice, this list of conditions and the following disclaimer in the\n"
    "   documentation and/or other materials provided with the distribution.\n"
    "3. Neither the name of the copyright holder nor the names of its\n"
    "   contributors may be used to endorse or promote products derived\n"
    "   from this software without specific prior written permission.\n"
    "\n"
    "THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS\n"
    "\"AS IS\" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT\n"
    "LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR\n"
    "A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT\n"
    "HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,\n"
    "SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED\n"
    "TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR\n"
    "PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF\n"
    "LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING\n"
    "NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS\n"
    "SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.\n";
#endif

static const char jansson_notice[] = "Jansson: MIT licence\n"
                                     "\n"
                                     "Copyright (c) 2009-2020 Petri Lehtinen <petri@digip.org>\n"
                                     "Copyright (c) 2011 Basile Starynkevitch <basile@starynkevitch.net>\n"
                                     "\n" MIT_TERMS;

#if defined(ATTN2C_STATIC) && defined(__GLIBC__)
static const char c_library_notice[] =
    "GNU C Library (libc, libm): GNU Lesser General Public License 2.1 or later\n"
    "\n"
    "This program has the library in itself. It is free software: its source, and the text of\n"
    "its licence, are at https://www.gnu.org/software/libc/. Who passes this program on gives\n"
    "along what it takes to link it with another version of the library: its objects, or the\n"
    "description that it was compiled from, and attn2c.\n";
#elif defined(ATTN2C_STATIC)
static const char c_library_notice[] = "musl, the C library: MIT licence\n"
                                       "\n"
                                       "Copyright (c) 2005-2020 Rich Felker, et al.\n"
                                       "\n" MIT_TERMS;
#endif

#ifdef ATTN2C_STATIC_TEXT
static const char utf8proc_notice[] =
    "utf8proc: MIT licence; its data: Unicode licence\n"
    "\n"
    "Copyright (c) 2009, 2013 Public Software Group e. V., Berlin, Germany\n"
    "Copyright (c) 2014-2018 Steven G. Johnson, Jiahao Chen, Tony Kelman, Jonas Fonseca, and other\n"
    "contributors\n"
    "\n" MIT_TERMS "\n"
    "Data: Copyright (c) 1991-2007 Unicode, Inc.\n"
    "\n"
    "Permission is hereby granted, free of charge, to any person obtaining a\n"
    "copy of the Unicode data files and any associated documentation (the \"Data\n"
    "Files\") or Unicode software and any associated documentation (the\n"
    "\"Software\") to deal in the Data Files or Software without restriction,\n"
    "including without limitation the rights to use, copy, modify, merge,\n"
    "publish, distribute, and/or sell copies of the Data Files or Software, and\n"
    "to permit persons to whom the Data Files or Software are furnished to do\n"
    "so, provided that (a) the above copyright notice(s) and this permission\n"
    "notice appear with all copies of the Data Files or Software, (b) both the\n"
    "above copyright notice(s) and this permission notice appear in associated\n"
    "documentation, and (c) there is clear notice in each modified Data File or\n"
    "in the Software as well as in the documentation associated with the Data\n"
    "File(s) or Software that the data or software has been modified.\n"
    "\n"
    "THE DATA FILES AND SOFTWARE ARE PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY\n"
    "KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF\n"
    "MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT OF\n"
    "THIRD PARTY RIGHTS. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR HOLDERS\n"
    "INCLUDED IN THIS NOTICE BE LIABLE FOR ANY CLAIM, OR ANY SPECIAL INDIRECT OR\n"
    "CONSEQUENTIAL DAMAGES, OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF\n"
    "USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER\n"
    "TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR\n"
    "PERFORMANCE OF THE DATA FILES OR SOFTWARE.\n"
    "\n"
    "Except as contained in this notice, the name of a copyright holder shall\n"
    "not be used in advertising or otherwise to promote the sale, use or other\n"
    "dealings in these Data Files or Software without prior written\n"
    "authorization of the copyright holder.\n";

static const char pcre2_notice[] =
    "PCRE2: BSD-3-Clause licence\n"
    "\n"
    "Copyright (c) 1997-2022 University of Cambridge\n"
    "\n"
    "Redistribution and use in source and binary forms, with or without\n"
    "modification, are permitted provided that the following conditions are met:\n"
    "\n"
    "   * Redistributions of source code must retain the above copyright notice,\n"
    "     this list of conditions and the following disclaimer.\n"
    "\n"
    "   * Redistributions in binary form must reproduce the above copyright\n"
    "     notice, this list of conditions and the following disclaimer in the\n"
    "     documentation and/or other materials provided with the distribution.\n"
    "\n"
    "   * Neither the name of the University of Cambridge nor the names of any\n"
    "     contributors may be used to endorse or promote products derived from this\n"
    "     software without specific prior written permission.\n"
    "\n"
    "THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS \"AS IS\"\n"
    "AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE\n"
    "IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE\n"
    "ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT OWNER OR CONTRIBUTORS BE\n"
    "LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR\n"
    "CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF\n"
    "SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS\n"
    "INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN\n"
    "CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE)\n"
    "ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE\n"
    "POSSIBILITY OF SUCH DAMAGE.\n"
    "\n"
    "EXEMPTION FOR BINARY LIBRARY-LIKE PACKAGES\n"
    "------------------------------------------\n"
    "\n"
    "The second condition in the BSD licence (covering binary redistributions) does\n"
    "not apply all the way down a chain of software. If binary package A includes\n"
    "PCRE2, it must respect the condition, but if package B is software that\n"
    "includes package A, the condition is not imposed on package B unless it uses\n"
    "PCRE2 independently.\n";
#endif

void attn2c_licenses(FILE *out) {
  static const char *const notices[] = {
      attn2c_notice,    jansson_notice,
#ifdef ATTN2C_WITH_LIBXSMM
      libxsmm_notice,
#endif
#ifdef ATTN2C_STATIC
      c_library_notice,
#endif
#ifdef ATTN2C_STATIC_TEXT
      utf8proc_notice,  pcre2_notice,
#endif
#ifdef ATTN2C_STATIC_PICTURES
      libpng_notice,    jpeg_notice,
#endif
#ifdef ATTN2C_STATIC_ZLIB
      zlib_notice,
#endif
#ifdef ATTN2C_STATIC_SERVE
      libevent_notice,
#endif
  };
  for (size_t i = 0; i < sizeof notices / sizeof *notices; i++)
    fprintf(out, "%s%s",
            i ? "\n----------------------------------------------------------------------------\n\n" : "",
            notices[i]);
}
