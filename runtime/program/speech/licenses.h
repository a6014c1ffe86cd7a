/* licenses.h - the notice of zlib, which packs texts of speech and reads pictures, for licenses.c. */
#pragma once

static const char zlib_notice[] =
    "zlib: Zlib licence\n"
    "\n"
    "Copyright (c) 1995-2022 Jean-loup Gailly and Mark Adler\n"
    "\n"
    "This software is provided 'as-is', without any express or implied\n"
    "warranty.  In no event will the authors be held liable for any damages\n"
    "arising from the use of this software.\n"
    "\n"
    "Permission is granted to anyone to use this software for any purpose,\n"
    "including commercial applications, and to alter it and redistribute it\n"
    "freely, subject to the following restrictions:\n"
    "\n"
    "1. The origin of this software must not be misrepresented; you must not\n"
    "   claim that you wrote the original software. If you use this software\n"
    "   in a product, an acknowledgment in the product documentation would be\n"
    "   appreciated but is not required.\n"
    "2. Altered source versions must be plainly marked as such, and must not be\n"
    "   misrepresented as being the original software.\n"
    "3. This notice may not be removed or altered from any source distribution.\n"
    "\n"
    "Jean-loup Gailly        Mark Adler\n"
    "jloup@gzip.org          madler@alumni.caltech.edu\n";
