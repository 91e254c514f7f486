import type { OpenStackRelease, OpenStackService } from "@causeway/api";
import { changed, type Changes, type Members } from "./changes.ts";
import { text as zed } from "./schemas/2022.2.generated.ts";
import { changes as antelope } from "./schemas/2023.1.generated.ts";
import { changes as bobcat } from "./schemas/2023.2.generated.ts";
import { changes as caracal } from "./schemas/2024.1.generated.ts";
import { changes as dalmatian } from "./schemas/2024.2.generated.ts";
import { text as epoxy } from "./schemas/2025.1.generated.ts";

/** The options of a release, as `schemas/generate.py` writes them. The form of an option's text is described there. */
export interface ReleaseSchema {
  readonly release: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly common: SectionSchemas;
  readonly services: Readonly<
    Record<string, { readonly sections: SectionSchemas; readonly named?: string } | undefined>
  >;
}

type SectionSchemas = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

/** The options of a release, or what differs from those of the release before it. */
type Source = { readonly text: string } | { readonly changes: string; readonly since: OpenStackRelease };

/** Releases whose schema is part of the package. */
const sources: Partial<Record<OpenStackRelease, Source>> = {
  "2022.2": { text: zed },
  "2023.1": { changes: antelope, since: "2022.2" },
  "2023.2": { changes: bobcat, since: "2023.1" },
  "2024.1": { changes: caracal, since: "2023.2" },
  "2024.2": { changes: dalmatian, since: "2024.1" },
  "2025.1": { text: epoxy },
};

/** The releases whose options are checked. */
export const SCHEMA_RELEASES: readonly string[] = Object.keys(sources);

const loaded = new Map<string, ReleaseSchema>();

/** All options of a release. */
export function schemaOf(release: OpenStackRelease): ReleaseSchema | undefined {
  const source = sources[release];
  const known = loaded.get(release);
  if (source === undefined || known) return known;
  const members =
    "text" in source
      ? (JSON.parse(source.text) as Members)
      : changed((schemaOf(source.since) ?? {}) as Members, JSON.parse(source.changes) as Changes);
  const schema = members as unknown as ReleaseSchema;
  loaded.set(release, schema);
  return schema;
}

/** Types of options, by their names. */
export type Section = Readonly<Record<string, string>>;

/** The options of one service in one release, those of the libraries it uses included. */
export interface ServiceSchema {
  /** Undefined: the release has no such section. */
  section(name: string): Section | undefined;
  readonly names: readonly string[];
  /** The options of a section that the administrator names, such as a backend. Undefined: the service has none. */
  readonly named: Section | undefined;
}

/** The options that a service reads; undefined if its schema is not part of the package. */
export function serviceSchema(release: OpenStackRelease, service: OpenStackService): ServiceSchema | undefined {
  const schema = schemaOf(release);
  const own = schema?.services[service];
  if (!schema || !own) return undefined;
  const section = (name: string): Section | undefined => {
    const both = { ...schema.common[name], ...own.sections[name] };
    return Object.keys(both).length === 0 ? undefined : both;
  };
  const names = [...new Set([...Object.keys(schema.common), ...Object.keys(own.sections)])];
  return { section, names, named: namedOptions(service, { section, names, named: own.named }) };
}

/** Sections that describe one driver of Glance each. */
const STORES: ReadonlySet<string> = new Set(["cinder", "file", "http", "rbd", "s3", "swift", "vmware"]);

/** A store of Glance takes the options of any driver; a backend of Cinder those of its defaults and of DEFAULT. */
function namedOptions(
  service: OpenStackService,
  { section, names, named }: { section: ServiceSchema["section"]; names: readonly string[]; named: string | undefined },
): Section | undefined {
  if (service === "glance") {
    const stores = names.filter((name) => name.startsWith("glance.store.") || STORES.has(name));
    return Object.assign({}, ...stores.map((name) => section(name) ?? {})) as Section;
  }
  // Cinder has the host of a backend in a section that represents each of them.
  return named === undefined ? undefined : { ...section("DEFAULT"), ...section(named), ...section("backend") };
}
