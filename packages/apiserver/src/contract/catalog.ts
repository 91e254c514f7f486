import { BuiltInTypes } from "../patch/index.ts";
import { Tables } from "../wire/tables.ts";
import type { CatalogView, Resource, Served } from "./resource.ts";

/** The resources of one logical cluster: the built-in ones, which all share, and its own custom ones. */
export class Catalog implements CatalogView {
  readonly #builtIn: BuiltIns;
  readonly #custom = new Map<string, Resource>();
  /** Grows with every change, so that documents made from the catalog know when they are stale. */
  revision = 1;

  constructor(builtIn: BuiltIns) {
    this.#builtIn = builtIn;
  }

  find(group: string, version: string, plural: string): Served | undefined {
    const resource = this.#builtIn.byStorage.get(`${group}/${plural}`) ?? this.#custom.get(`${group}/${plural}`);
    const found = resource?.versions.find((v) => v.name === version);
    return resource && found ? { resource, version: found } : undefined;
  }

  byKind(group: string, kind: string): Resource | undefined {
    const isIt = (r: Resource): boolean => r.group === group && r.kind === kind;
    return this.#builtIn.byKind.get(`${group}/${kind}`) ?? [...this.#custom.values()].find(isIt);
  }

  get types(): BuiltInTypes {
    return this.#builtIn.types;
  }

  get tables(): Tables {
    return this.#builtIn.tables;
  }

  all(): readonly Resource[] {
    return [...this.#builtIn.all, ...this.#custom.values()];
  }

  isBuiltInGroup(group: string): boolean {
    return this.#builtIn.all.some((r) => r.group === group);
  }

  set(key: string, resource: Resource | undefined): void {
    if (resource) this.#custom.set(key, resource);
    else this.#custom.delete(key);
    this.revision += 1;
  }
}

/** The built-in kinds, shared by all clusters of a process. */
export interface BuiltIns {
  /** The fields of the built-in kinds. */
  readonly tables: Tables;
  /** How they merge. */
  readonly types: BuiltInTypes;
  readonly all: readonly Resource[];
  readonly byStorage: ReadonlyMap<string, Resource>;
  readonly byKind: ReadonlyMap<string, Resource>;
}

/** Indexes the built-in kinds. */
export function builtIns(all: readonly Resource[]): BuiltIns {
  const tables = new Tables();
  return {
    tables,
    types: new BuiltInTypes(tables),
    all,
    byStorage: new Map(all.map((r) => [`${r.group}/${r.plural}`, r])),
    byKind: new Map(all.map((r) => [`${r.group}/${r.kind}`, r])),
  };
}
