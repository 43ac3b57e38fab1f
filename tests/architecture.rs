//! Holds ARCHITECTURE.md against the code: who may import whom, and who may print, read clocks or files.
//!
//! The table of imports is read from the document itself (the block marked `imports`), so that the two cannot part.
//! Paths are found as the compiler finds them: `crate::`, `crokeye::` and `super::`, with nested braces.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules that compute and do nothing else: no clock, no file, no environment.
const PURE: [&str; 7] = ["geometry", "kernels", "board", "register", "detect", "judge", "score"];

#[test]
fn modules_import_only_what_the_architecture_allows() {
    let allowed = table();
    let mut wrong = Vec::new();
    for file in sources() {
        let Some(row) = allowed.get(&file.module[0]) else {
            wrong.push(format!("{}: module `{}` has no row in ARCHITECTURE.md", file.name, file.module[0]));
            continue;
        };
        for path in imports(&file) {
            let is_allowed = path[0] == file.module[0]
                || row.iter().any(|rule| rule == &["*"] || rule.iter().zip(&path).all(|(a, b)| a == b));
            if !is_allowed {
                wrong.push(format!("{}: `{}` may not import `{}`", file.name, file.module[0], path.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_row_of_the_import_table_is_a_module_and_names_modules() {
    let modules: BTreeSet<String> = sources().into_iter().map(|file| file.module[0].clone()).collect();
    for (module, row) in table() {
        assert!(modules.contains(&module), "ARCHITECTURE.md has a row for `{module}`, which does not exist");
        for rule in row.iter().filter(|rule| rule != &&["*"]) {
            assert!(modules.contains(&rule[0]), "the row of `{module}` names `{}`, which does not exist", rule[0]);
        }
    }
}

#[test]
fn only_the_command_line_prints() {
    for file in sources().iter().filter(|file| file.module[0] != "cli") {
        for word in ["println", "print", "eprintln", "eprint", "dbg"] {
            let prints = file.tokens.windows(2).any(|pair| pair[0] == word && pair[1] == "!");
            assert!(!prints, "{} calls {word}!", file.name);
        }
    }
}

#[test]
fn stages_read_no_clock_no_file_and_no_environment() {
    for file in sources().iter().filter(|file| PURE.contains(&file.module[0].as_str()) && !file.is_test()) {
        let tokens = file.without_tests();
        for path in ["std::time", "std::fs", "std::env", "std::net", "std::process", "SystemTime::now", "Instant::now"]
        {
            let words: Vec<&str> = path.split("::").collect();
            let reads = tokens.windows(3).any(|w| w[0] == words[0] && w[1] == "::" && w[2] == words[1]);
            assert!(!reads, "{} uses {path}", file.name);
        }
    }
}

#[test]
fn opencv_stays_behind_its_two_doors() {
    for file in sources() {
        let uses = file.tokens.windows(2).any(|pair| pair[0] == "opencv" && pair[1] == "::");
        let is_door = file.module[0] == "capture" || file.module.iter().any(|part| part == "calibrate");
        assert!(!uses || is_door, "{} uses OpenCV", file.name);
    }
}

#[test]
fn sql_stays_in_the_store() {
    for file in sources().iter().filter(|file| file.module[0] != "store") {
        assert!(!file.tokens.iter().any(|token| token == "sqlx"), "{} uses sqlx", file.name);
    }
}

#[test]
fn http_stays_in_its_module_and_statuses_in_its_errors() {
    for file in sources() {
        let names = |word: &str| file.tokens.iter().any(|token| token == word);
        assert!(!names("axum") || file.module[0] == "http", "{} uses axum", file.name);
        assert!(!names("StatusCode") || file.module == ["http", "error"], "{} knows HTTP statuses", file.name);
    }
}

#[test]
fn nested_imports_are_all_found() {
    let file = Source::new(
        vec!["a".into(), "b".into()],
        "use crate::{x::{Y, z::W}, q}; // crate::comment\n fn f() { crate::p::g(); super::super::r::h(\"crate::s\") }\n\
         mod tests { use super::super::own; use super::super::super::top::Thing; }",
    );
    let found: Vec<String> = imports(&file).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["x::Y", "x::z::W", "q", "p::g", "r::h", "a::own", "top::Thing"]);
}

/// One source file: its module path and its tokens, without comments and strings.
struct Source {
    name: String,
    module: Vec<String>,
    tokens: Vec<String>,
}

impl Source {
    fn new(module: Vec<String>, text: &str) -> Self {
        Self { name: module.join("::"), module, tokens: tokens(text) }
    }
}

impl Source {
    /// Whether the whole file is a test module.
    fn is_test(&self) -> bool {
        self.module.last().is_some_and(|name| name == "tests")
    }

    /// The tokens before the test module, which stands beneath the code.
    fn without_tests(&self) -> &[String] {
        let tests = self.tokens.windows(5).position(|w| w == ["#", "[", "cfg", "(", "test"]);
        &self.tokens[..tests.unwrap_or(self.tokens.len())]
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files under `src/` but `lib.rs` and `main.rs`, which hold the house together.
fn sources() -> Vec<Source> {
    let mut out = Vec::new();
    let mut folders = vec![root().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let module = module_of(&path);
                if module != ["lib"] && module != ["main"] {
                    let name = path.strip_prefix(root()).unwrap().display().to_string();
                    out.push(Source { name, ..Source::new(module, &fs::read_to_string(&path).unwrap()) });
                }
            }
        }
    }
    assert!(out.len() > 5, "only {} source files found", out.len());
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

fn module_of(path: &Path) -> Vec<String> {
    let inside = path.strip_prefix(root().join("src")).unwrap().with_extension("");
    let mut parts: Vec<String> = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if parts.len() > 1 && parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// The rows of the block marked `imports` in ARCHITECTURE.md: module to the paths it may import.
fn table() -> BTreeMap<String, Vec<Vec<String>>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let block = text.split("```imports").nth(1).and_then(|rest| rest.split("```").next());
    let rows = block.expect("ARCHITECTURE.md has a block marked `imports`").lines();
    rows.filter(|row| !row.trim().is_empty())
        .map(|row| {
            let (module, list) = row.split_once("<-").expect("a row is `module <- paths`");
            let split = |path: &str| path.trim().split("::").map(str::to_owned).collect();
            let paths = list.split(',').filter(|path| !path.trim().is_empty()).map(split).collect();
            (module.trim().to_owned(), paths)
        })
        .collect()
}

/// Identifiers, `::` and single signs; comments, strings and characters are left out.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    let mut i = 0;
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    while i < chars.len() {
        match (at(i), at(i + 1)) {
            ('/', '/') => {
                while i < chars.len() && chars[i] != '\n' {
                    i += 1;
                }
            }
            ('/', '*') => {
                i += 2;
                while i < chars.len() && (at(i), at(i + 1)) != ('*', '/') {
                    i += 1;
                }
                i += 2;
            }
            ('r', '"' | '#') if at(i + 1) == '"' || (at(i + 1) == '#' && matches!(at(i + 2), '"' | '#')) => {
                let hashes = (i + 1..).take_while(|&k| at(k) == '#').count();
                i += hashes + 2;
                while i < chars.len() && !(at(i) == '"' && (1..=hashes).all(|k| at(i + k) == '#')) {
                    i += 1;
                }
                i += hashes + 1;
            }
            ('"', _) => {
                i += 1;
                while i < chars.len() && chars[i] != '"' {
                    i += if chars[i] == '\\' { 2 } else { 1 };
                }
                i += 1;
            }
            ('\'', '\\') => {
                i += 3;
                while i < chars.len() && chars[i] != '\'' {
                    i += 1;
                }
                i += 1;
            }
            ('\'', _) if at(i + 2) == '\'' => i += 3,
            (':', ':') => {
                out.push("::".to_owned());
                i += 2;
            }
            (c, _) if c.is_alphanumeric() || c == '_' => {
                let end = (i..chars.len()).find(|&k| !(chars[k].is_alphanumeric() || chars[k] == '_'));
                let end = end.unwrap_or(chars.len());
                out.push(chars[i..end].iter().collect());
                i = end;
            }
            (c, _) => {
                if !c.is_whitespace() {
                    out.push(c.to_string());
                }
                i += 1;
            }
        }
    }
    out
}

/// All paths of the crate that a file names, from the crate's root on.
fn imports(file: &Source) -> Vec<Vec<String>> {
    let tokens = &file.tokens;
    let mut out = Vec::new();
    // Braces that belong to an inline module: each takes `super` one level deeper.
    let mut braces = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        let is_path_start = i == 0 || tokens[i - 1] != "::";
        match tokens[i].as_str() {
            "{" => {
                braces.push(i >= 2 && tokens[i - 2] == "mod");
                i += 1;
            }
            "}" => {
                braces.pop();
                i += 1;
            }
            "crate" | "crokeye" if is_path_start && tokens.get(i + 1).is_some_and(|next| next == "::") => {
                i = paths(tokens, i + 2, &[], &mut out);
            }
            "super" if is_path_start => {
                let mut module = file.module.clone();
                module.extend(braces.iter().filter(|inline| **inline).map(|_| "inline".to_owned()));
                while tokens.get(i).is_some_and(|token| token == "super") {
                    module.pop();
                    i += 2;
                }
                i = paths(tokens, i, &module, &mut out);
            }
            _ => i += 1,
        }
    }
    out.retain(|path| !path.is_empty());
    out
}

/// Reads the tree of paths at `i`, each with `prefix` before it; returns where it ends.
fn paths(tokens: &[String], mut i: usize, prefix: &[String], out: &mut Vec<Vec<String>>) -> usize {
    let mut path = prefix.to_vec();
    loop {
        let token = tokens.get(i).map_or("", String::as_str);
        if token == "{" {
            i += 1;
            while tokens.get(i).is_some_and(|token| token != "}") {
                i = if tokens[i] == "," { i + 1 } else { paths(tokens, i, &path, out) };
            }
            return i + 1;
        }
        if token == "*" {
            i += 1;
        } else if token.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            if token != "self" {
                path.push(token.to_owned());
            }
            i += 1;
            // `name as other`
            if tokens.get(i).is_some_and(|token| token == "as") {
                i += 2;
            }
            if tokens.get(i).is_some_and(|token| token == "::") {
                i += 1;
                continue;
            }
        } else {
            // A turbofish or the like: no path goes on here.
            i += 1;
        }
        out.push(path);
        return i;
    }
}
