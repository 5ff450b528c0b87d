//! Compiles the C++ library as one file, with the C++ compiler.
//!
//! The file is `native/pretok.cpp` in a packaged crate. In the repository, `cpp/amalgamate.py`
//! writes it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns an environment variable, and tells Cargo that the build depends on it.
fn variable(name: &str) -> Option<String> {
    println!("cargo:rerun-if-env-changed={name}");
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns `NAME_TARGET`, `TARGET_NAME` or `NAME`, as the crate `cc` does.
fn tool_variable(name: &str, target: &str) -> Option<String> {
    variable(&format!("{name}_{target}"))
        .or_else(|| variable(&format!("{name}_{}", target.replace('-', "_"))))
        .or_else(|| variable(&format!("TARGET_{name}")))
        .or_else(|| variable(name))
}

fn run(command: &mut Command) {
    let program = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{program} failed: {status}"),
        Err(error) => panic!("cannot run {program}: {error}; set CXX, AR or PYTHON"),
    }
}

/// Returns the folder of pretok.cpp. In the repository, writes the file first.
fn source_folder(out: &Path) -> PathBuf {
    let crate_folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("set by Cargo"));
    let native = crate_folder.join("native");
    if native.join("pretok.cpp").exists() {
        println!("cargo:rerun-if-changed=native/pretok.cpp");
        return native;
    }
    let cpp = crate_folder.join("..");
    assert!(
        cpp.join("amalgamate.py").exists(),
        "expected native/pretok.cpp in the crate; write it with `python amalgamate.py native`"
    );
    for part in ["amalgamate.py", "CMakeLists.txt", "core", "formats", "capi"] {
        println!("cargo:rerun-if-changed={}", cpp.join(part).display());
    }
    let python = variable("PYTHON").unwrap_or_else(|| "python3".into());
    run(Command::new(python).arg(cpp.join("amalgamate.py")).arg(out));
    out.to_path_buf()
}

/// Returns the C++ compiler.
fn compiler(target: &str, host: &str) -> String {
    tool_variable("CXX", target).unwrap_or_else(|| {
        let parts: Vec<&str> = target.split('-').collect();
        match parts[..] {
            _ if target == host => "c++".into(),
            // A cross compiler as Debian names it, such as aarch64-linux-gnu-g++.
            [arch, _, "linux", abi] => format!("{arch}-linux-{abi}-g++"),
            _ => panic!("expected the C++ compiler for {target} in CXX_{target}"),
        }
    })
}

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").expect("set by Cargo"));
    let target = env::var("TARGET").expect("set by Cargo");
    let host = env::var("HOST").expect("set by Cargo");
    assert!(!target.contains("msvc"), "the target {target} needs a -gnu toolchain");
    println!("cargo:rerun-if-changed=build.rs");
    let source = source_folder(&out).join("pretok.cpp");

    let compiler = compiler(&target, &host);
    let mut words = compiler.split_whitespace();
    let level = match env::var("OPT_LEVEL").as_deref() {
        Ok("0") => "-O0",
        Ok("1") => "-O1",
        Ok("s" | "z") => "-Os",
        _ => "-O2",
    };
    let object = out.join("pretok.o");
    let mut compile = Command::new(words.next().expect("CXX is not empty"));
    compile.args(words).args(["-std=c++17", "-pthread", "-fPIC", "-fvisibility=hidden"]).args([
        "-ffunction-sections",
        "-fdata-sections",
        level,
    ]);
    let flags = tool_variable("CXXFLAGS", &target).unwrap_or_default();
    compile.args(flags.split_whitespace());
    run(compile.arg("-c").arg(source).arg("-o").arg(&object));

    let library = out.join("libpretok.a");
    let _ = std::fs::remove_file(&library);
    let archiver = tool_variable("AR", &target).unwrap_or_else(|| "ar".into());
    run(Command::new(archiver).arg("crs").arg(library).arg(object));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=pretok");
    let runtime = tool_variable("CXXSTDLIB", &target).unwrap_or_else(|| {
        let is_llvm = ["apple", "freebsd", "openbsd"].iter().any(|name| target.contains(name));
        let name = match () {
            () if is_llvm => "c++",
            () if target.contains("android") => "c++_shared",
            () => "stdc++",
        };
        name.into()
    });
    println!("cargo:rustc-link-lib={runtime}");
}
