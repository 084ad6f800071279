//! Imports given SCIP files, and each package's `index.scip` if changed since the last import.

use super::{CurrentIndex, CurrentShard};
use crate::corpus::Source;
use crate::directory;
use crate::indexing::interface::{BuildError, Changes};
use crate::precise::{self, Builder, HashedText, Import, Imported, Precise, ScipError};
use crate::shard::{DocId, Shard, ShardError, TextCache};
use language::symbols::TEXT_BYTES_MAX;
use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const BESIDE: &str = "index.scip";

fn given_import(file: &Path, sources: &[Source], changes: &Changes) -> Result<Import, BuildError> {
    let failed = |source| BuildError::Scip {
        path: file.to_owned(),
        source,
    };
    let root = precise::project_root(file).map_err(failed)?;
    let beside = file.canonicalize().map_err(|error| failed(error.into()))?;
    let roots = root.iter().map(|root| &**root).chain(beside.parent());
    let import = |package: &[u8], prefix: Vec<u8>| Import {
        file: file.to_owned(),
        package: package.to_vec(),
        prefix,
        is_given: true,
    };
    for root in roots {
        let inside = sources.iter().filter(|it| root.starts_with(&it.directory));
        if let Some(source) = inside.max_by_key(|it| it.directory.as_os_str().len()) {
            return Ok(import(&source.name, prefix(root, &source.directory)));
        }
    }
    match (sources, &changes.repositories[..]) {
        ([source], []) => Ok(import(&source.name, Vec::new())),
        ([], [repository]) => Ok(import(&repository.name, Vec::new())),
        _ => Err(BuildError::NoPackage(file.to_owned())),
    }
}

fn prefix(root: &Path, directory: &Path) -> Vec<u8> {
    let below = root.strip_prefix(directory).unwrap_or(Path::new(""));
    let mut prefix = below.as_os_str().as_bytes().to_vec();
    if !prefix.is_empty() {
        prefix.push(b'/');
    }
    prefix
}

impl CurrentIndex {
    /// SCIP files of the sources, with their packages.
    pub(in crate::indexing) fn imports(
        &self,
        sources: &[Source],
        changes: &Changes,
    ) -> Result<Vec<Import>, BuildError> {
        let given = changes.scip.iter();
        let given = given.map(|file| given_import(file, sources, changes));
        let mut imports = given.collect::<Result<Vec<_>, _>>()?;
        let beside = sources.iter().map(|source| Import {
            file: source.directory.join(BESIDE),
            package: source.name.clone(),
            prefix: Vec::new(),
            is_given: false,
        });
        imports.extend(beside.filter(|import| import.file.is_file()));
        Ok(imports)
    }

    /// Replaces the precise places of the packages with a new SCIP file.
    pub(in crate::indexing) fn import(&mut self, imports: Vec<Import>) -> Result<(), BuildError> {
        let open = self.open_precise();
        let beside = imports.iter().filter(|it| !it.is_given);
        let hash = |it: &Import| Some((it.package.clone(), hash(&it.file).ok()?));
        let beside: HashMap<_, _> = beside.filter_map(hash).collect();
        let last = |package: &[u8]| open.as_ref().and_then(|open| open.source(package));
        let imports = new_imports(imports, |package| {
            last(package).as_ref() != beside.get(package)
        });
        if imports.is_empty() {
            return Ok(());
        }
        let mut builder = Builder::default();
        if let Some(open) = &open {
            let live: HashSet<_> = self.live().map(|it| self.name(&it.directory)).collect();
            let is_replaced = |package: &[u8]| imports.iter().any(|it| it.package == package);
            builder.keep(open, |it| live.contains(self.name(it)) && !is_replaced(it));
        }
        for import in imports {
            if let Some(hash) = beside.get(&import.package) {
                builder.add_source(&import.package, *hash);
            }
            match self.import_one(&import, &mut builder) {
                Ok(imported) => self.report.imported.push(imported),
                Err(error) => self.note(&import.file, &error),
            }
        }
        self.write_precise(builder)
    }

    /// Drops a damaged file.
    fn open_precise(&mut self) -> Option<Precise> {
        let named = self.precise.as_ref()?;
        let path = self.directory.join(&named.file);
        match directory::open_precise(&self.directory, named) {
            Ok(open) => Some(open),
            Err(error) => {
                self.precise = None;
                self.note(&path, &error);
                None
            }
        }
    }

    fn note(&mut self, file: &Path, error: &dyn Display) {
        let problem = (file.display().to_string(), error.to_string());
        self.report.problems.push(problem);
    }

    fn import_one(&self, import: &Import, builder: &mut Builder) -> Result<Imported, ScipError> {
        let documents = self.documents(&import.package).unwrap_or_default();
        precise::import(import, builder, &mut |path| {
            let (shard, id) = documents.get(path)?;
            text(shard, *id).ok()?
        })
    }

    /// Documents by path, in the default revision.
    fn documents(&self, package: &[u8]) -> Result<Documents<'_>, ShardError> {
        let mut documents = HashMap::new();
        for CurrentShard { shard, .. } in &self.shards {
            for id in shard.live_packages() {
                let found = shard.package(id)?;
                if found.directory != package {
                    continue;
                }
                let of_package = shard.documents_of(&found)?.into_iter();
                let is_default =
                    |id: &DocId| (shard.revisions()).is_none_or(|of| of.is_default(id.0));
                for id in of_package.filter(is_default) {
                    documents.insert(shard.document(id)?.path, (&**shard, id));
                }
            }
            shard.intact()?;
        }
        Ok(documents)
    }

    fn write_precise(&mut self, builder: Builder) -> Result<(), BuildError> {
        self.precise = None;
        if let Some(bytes) = builder.finish() {
            let written = directory::write_precise(&self.directory, &bytes);
            let (named, bytes) = written.map_err(BuildError::write(&self.directory))?;
            self.precise = Some(named);
            self.report.written_bytes += bytes;
        }
        Ok(())
    }
}

type Documents<'a> = HashMap<&'a [u8], (&'a Shard, DocId)>;

/// Given files, and new files of other packages.
fn new_imports(mut imports: Vec<Import>, is_new: impl Fn(&[u8]) -> bool) -> Vec<Import> {
    let given = imports.iter().filter(|it| it.is_given);
    let given: HashSet<_> = given.map(|it| it.package.clone()).collect();
    imports.retain(|it| it.is_given || !given.contains(&it.package) && is_new(&it.package));
    imports
}

/// `None` if too long for symbols.
fn text(shard: &Shard, id: DocId) -> Result<Option<HashedText>, ShardError> {
    let document = shard.document(id)?;
    let (hash, range) = (*document.hash, shard.text_range(document.blocks)?);
    if range.end - range.start > TEXT_BYTES_MAX as u64 {
        return Ok(None);
    }
    let text = shard.text(range, &TextCache::default())?.to_vec();
    shard.intact()?;
    Ok(Some((hash, text)))
}

fn hash(file: &Path) -> io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(file)?)?;
    Ok(hasher.finalize().into())
}
