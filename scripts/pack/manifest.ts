import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where an export is: of the sources a path, of a published package one for the compiler and one for Node. */
export type Export = string | { readonly types: string; readonly default: string };

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly sideEffects?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, Export>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly repository?: object;
  readonly publishConfig?: object;
  /** The commit that the package was made of. */
  readonly gitHead?: string;
}

interface Workspace {
  readonly engines: Readonly<Record<string, string>>;
  readonly repository?: { readonly type: string; readonly url: string };
}

/** Exports of the sources that are for this repository alone. */
const INTERNAL = new Set(["./testing", "./bundled"]);

/** The package.json of the published package: the sources' one, with paths into dist/ in place of src/. */
export function publishedManifest(
  root: string,
  source: Manifest,
  { name, commit }: { readonly name: string; readonly commit: string },
): Manifest {
  const workspace = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Workspace;
  const { description, license, type, sideEffects, bin, dependencies, optionalDependencies } = source;
  const exported = Object.entries(source.exports).filter(([subpath]) => !INTERNAL.has(subpath));
  return {
    name: source.name,
    version: source.version,
    description,
    license,
    type,
    ...(sideEffects === undefined ? {} : { sideEffects }),
    engines: workspace.engines,
    ...(workspace.repository ? { repository: { ...workspace.repository, directory: `packages/${name}` } } : {}),
    ...(bin ? { bin: Object.fromEntries(Object.entries(bin).map(([command, path]) => [command, inDist(path)])) } : {}),
    exports: {
      ...Object.fromEntries(exported.map(([subpath, path]) => [subpath, publishedExport(path)])),
      "./package.json": "./package.json",
    },
    files: ["dist"],
    ...(dependencies ? { dependencies } : {}),
    ...(optionalDependencies ? { optionalDependencies } : {}),
    publishConfig: { access: "public" },
    gitHead: commit,
  };
}

function publishedExport(path: Export): Export {
  if (typeof path !== "string") return path;
  const compiled = inDist(path).replace(/\.ts$/, ".js");
  return { types: compiled.replace(/\.js$/, ".d.ts"), default: compiled };
}

function inDist(path: string): string {
  return path.replace(/^\.\/src\//, "./dist/");
}
