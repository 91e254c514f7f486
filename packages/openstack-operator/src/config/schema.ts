import type { OpenStackRelease, OpenStackService } from "@causeway/api";
import { text as zed } from "./schemas/2022.2.generated.ts";
import { text as epoxy } from "./schemas/2025.1.generated.ts";

/** The options of a release, as `schemas/generate.py` writes them. The form of an option's text is described there. */
interface ReleaseSchema {
  readonly release: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly common: SectionSchemas;
  readonly services: Readonly<
    Record<string, { readonly sections: SectionSchemas; readonly named?: string } | undefined>
  >;
}

type SectionSchemas = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

/** Releases whose schema is part of the package. */
const texts: Partial<Record<OpenStackRelease, string>> = { "2022.2": zed, "2025.1": epoxy };

export const SCHEMA_RELEASES: readonly string[] = Object.keys(texts);

const loaded = new Map<string, ReleaseSchema>();

function schemaOf(release: OpenStackRelease): ReleaseSchema | undefined {
  const text = texts[release];
  const known = loaded.get(release);
  if (text === undefined || known) return known;
  const schema = JSON.parse(text) as ReleaseSchema;
  loaded.set(release, schema);
  return schema;
}

export type Section = Readonly<Record<string, string>>;

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
  return named === undefined ? undefined : { ...section("DEFAULT"), ...section(named) };
}
