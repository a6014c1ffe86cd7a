-- reserved.lua: lists names that C, C++, their libraries and their compilers reserve on Linux.
--
-- An output keeps its name in .npy files, on the command line and in `info`. Where that name cannot be a member of a
-- C struct, the member has one underscore more (reserved.member). A model's name is also the name of a file and a
-- library, and the beginning of functions' names. It is refused if one of those is taken (reserved.of_model).
local words = require("common.words")

local reserved = {}

local function set(text) return words.set(words.list(text)) end

--- Keywords of C up to C23 and of C++ up to C++26, alternative tokens, and the extensions of gcc and clang.
reserved.keywords = set [[alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor
  bool break case catch char char16_t char32_t char8_t class co_await co_return co_yield compl concept const const_cast
  consteval constexpr constinit continue contract_assert decltype default delete do double dynamic_cast else enum
  explicit export extern false far float for friend goto if inline int long mutable namespace near new noexcept not
  not_eq nullptr operator or or_eq private protected public reflexpr register reinterpret_cast requires restrict return
  short signed sizeof static static_assert static_cast struct switch synchronized template this thread_local throw true
  try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq]]

--- Macros without arguments of gcc, clang and the C library's headers, and the types that a model's own header uses.
reserved.macros = set [[assert atomic_compare_exchange_strong_explicit atomic_compare_exchange_weak_explicit
  atomic_exchange_explicit atomic_fetch_add_explicit atomic_fetch_and_explicit atomic_fetch_or_explicit
  atomic_fetch_sub_explicit atomic_fetch_xor_explicit atomic_init atomic_load_explicit atomic_store_explicit b64_ntop
  b64_pton basename complex d_fileno direct dn_count_labels dq_bhardlimit dq_bsoftlimit dq_btime dq_curinodes
  dq_curspace dq_ihardlimit dq_isoftlimit dq_itime dq_valid errno fp_nquery fp_query fp_resstat h_addr h_errno hostalias
  hpux i386 ifa_broadaddr ifa_dstaddr imaginary int16_t int32_t int64_t int8_t linux loc_aton loc_ntoa math_errhandling
  max_align_t mips msg_cbytes no_argument noreturn nsaddr nullptr_t offsetof optional_argument p_cdname p_cdnname
  p_class p_fqname p_fqnname p_option p_query p_rcode p_time p_type ptrdiff_t putlong putshort required_argument
  res_close res_hostalias res_init res_isourserver res_nameinquery res_nclose res_ninit res_queriesmatch res_randomid
  s6_addr s6_addr16 s6_addr32 sa_handler sa_restorer sa_sigaction sched_priority si_addr si_addr_lsb si_arch si_band
  si_call_addr si_fd si_int si_lower si_overrun si_pid si_pkey si_ptr si_status si_stime si_syscall si_timerid si_uid
  si_upper si_utime si_value sigev_notify_attributes sigev_notify_function size_t sparc st_atime st_atimensec st_ctime
  st_mtime stderr stdin stdout sun sym_ntop sym_ntos sym_ston uint16_t uint32_t uint64_t uint8_t unix ut_addr ut_name
  ut_time ut_xtime vax]]

--- Headers, as NAME or NAME.h: of C and C++, of the C library, and of gcc and clang, except *intrin.h. A model's
--- folder has NAME.h and the program NAME, which -I would put before them.
reserved.headers = set [[acc_prof aio algorithm aliases alloca altivec any ar argp argz arm64intr arm_acle arm_bf16
  arm_cde arm_cmse arm_fp16 arm_mve arm_neon arm_sve armintr array assert atomic backtrace barrier bit bitset builtins
  byteswap cassert ccomplex cctype cerrno cet cfenv cfloat charconv chrono cinttypes ciso646 climits clocale cmath
  codecvt compare complex concepts condition_variable contracts coroutine cpio cpuid csetjmp csignal cstdalign cstdarg
  cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath ctime ctype cuchar cwchar cwctype cxxabi debugging deque
  dirent dlfcn elf endian envz err errno error exception execinfo execution expected fcntl features fenv filesystem
  flat_map flat_set float fmtmsg fnmatch forward_list fpu_control fstab fstream fts ftw functional future gconv gcov
  generator getopt glob grp gshadow hazard_pointer hexagon_circ_brev_intrinsics hexagon_protos hexagon_types
  hvx_hexagon_protos iconv ieee754 ifaddrs initializer_list inplace_vector inttypes iomanip ios iosfwd iostream iso646
  istream iterator langinfo lastlog latch libgen libintl limits linalg link list locale malloc map math mcheck mdspan
  memory memory_resource mm3dnow mm_malloc mntent monetary mqueue msa mutex netdb new nl_types nss numbers numeric
  obstack omp ompt openacc optional ostream paths poll print printf proc_service pthread pty pwd quadmath quadmath_weak
  queue random ranges ratio rcu re_comp regex regexp resolv riscv_vector sched scoped_allocator search semaphore set
  setjmp sgtty shadow shared_mutex signal simd source_location span spanstream spawn sstream stab stack stacktrace
  stdalign stdarg stdatomic stdbit stdbool stdckdint stddef stdexcept stdfix stdfloat stdint stdio stdio_ext stdlib
  stdnoreturn stop_token streambuf string string_view strings syncstream syscall sysexits syslimits syslog system_error
  tar termio termios text_encoding tgmath thread thread_db threads time ttyent tuple type_traits typeindex typeinfo
  uchar ucontext ulimit unistd unordered_map unordered_set unwind utility utime utmp utmpx vadefs valarray values
  varargs variant vector version wait wasm_simd128 wchar wctype wordexp]]

--- Libraries that programs are linked with, as -lNAME.
reserved.libraries = set [[anl asan atomic backtrace c crypt dl g gcc gcc_eh gcc_s gomp itm jansson libxsmm lsan m
  mcheck mvec nsl omp pthread quadmath resolv rt ssp stdc supc tsan ubsan util xsmm xsmmext xsmmf xsmmnoblas]]

--- Words before _open, _create, _destroy, _close or _strerror in functions of those libraries.
reserved.functions = set [[acc argz authdes authdes_pk authnone authunix clnt clntraw clnttcp clntudp clntunix cnd epoll
  fts fts64 gai hashtable iconv memfd mq mtx pidfd posix_spawn_file_actions posix_spawnattr pthread pthread_attr
  pthread_barrier pthread_barrierattr pthread_cond pthread_condattr pthread_key pthread_mutex pthread_mutexattr
  pthread_rwlock pthread_rwlockattr pthread_spin sem shm strbuffer svc svcfd svcraw svctcp svcudp svcunix svcunixfd thrd
  timer timerfd tss xdr xdrmem xdrrec xdrstdio]]

--- Returns the member of a C struct for an output or an input: its name, or name_ if the name without trailing
--- underscores is taken. Two names never have the same member.
function reserved.member(name)
  local bare = name:match("^(.-)_*$")
  return (reserved.keywords[bare] or reserved.macros[bare]) and name .. "_" or name
end

function reserved.of_model(name)
  return reserved.headers[name] or reserved.libraries[name] or reserved.functions[name]
    or name:match("^attn2c") or name:match("^libxsmm") or name == "internal" or name:match("intrin$") or false
end

return reserved
