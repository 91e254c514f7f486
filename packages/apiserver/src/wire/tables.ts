import { CORE_TABLES } from "./core-tables.generated.ts";
import { DEFINITION_TABLES } from "./definition-tables.generated.ts";
import { GROUP_TABLES } from "./group-tables.generated.ts";
import { REGISTRATION_TABLES } from "./registration-tables.ts";

function linesOf(struct: string): Readonly<Record<string, string>> {
  if (struct.startsWith("core.") || struct.startsWith("meta.")) return CORE_TABLES;
  if (struct.startsWith("apiregistration.")) return REGISTRATION_TABLES;
  return struct.startsWith("definition.") ? DEFINITION_TABLES : GROUP_TABLES;
}

/** One field of a built-in struct. */
export interface Field {
  /** "" when the fields of `type` are in the struct itself. */
  readonly name: string;
  readonly number: number;
  /** "string", "int32", "core.PodSpec"… without list and map marks. */
  readonly type: string;
  readonly shape: "one" | "list" | "map";
  /** Lists of these are messages of their own on the wire, with the list as field 1. */
  readonly wrapped: boolean;
  /** Set and zero are different things. */
  readonly pointer: boolean;
  /** JSON says it even when it is empty. */
  readonly always: boolean;
}

/** The structs of the built-in kinds, read when first requested. */
export class Tables {
  readonly #read = new Map<string, readonly Field[]>();
  readonly #byName = new Map<string, ReadonlyMap<string, Field>>();
  readonly #byNumber = new Map<string, ReadonlyMap<number, Field>>();

  /** The fields of "core.PodSpec"; undefined when there is no such struct. */
  fields(struct: string): readonly Field[] | undefined {
    const known = this.#read.get(struct);
    if (known) return known;
    const lines = linesOf(struct);
    const line = Object.hasOwn(lines, struct) ? lines[struct] : undefined;
    if (line === undefined) return undefined;
    const fields = line === "" ? [] : line.split(" ").map(fieldOf);
    this.#read.set(struct, fields);
    return fields;
  }

  /** The same by their numbers in protobuf. */
  byNumber(struct: string): ReadonlyMap<number, Field> | undefined {
    const known = this.#byNumber.get(struct);
    if (known) return known;
    const fields = this.fields(struct);
    if (!fields) return undefined;
    const byNumber = new Map(fields.map((field) => [field.number, field]));
    this.#byNumber.set(struct, byNumber);
    return byNumber;
  }

  /** The same with embedded structs laid open, as JSON has them. */
  flat(struct: string): readonly Field[] | undefined {
    const byName = this.byName(struct);
    return byName && [...byName.values()];
  }

  /** The fields of a struct as JSON has them, by their names; undefined when there is no such struct. */
  byName(struct: string): ReadonlyMap<string, Field> | undefined {
    const known = this.#byName.get(struct);
    if (known) return known;
    const fields = this.fields(struct);
    if (!fields) return undefined;
    const byName = new Map<string, Field>();
    for (const field of fields) {
      if (field.name !== "") byName.set(field.name, field);
      else for (const [name, inner] of this.byName(field.type) ?? []) byName.set(name, inner);
    }
    this.#byName.set(struct, byName);
    return byName;
  }
}

function fieldOf(source: string): Field {
  const match = /^([^=]*)=(\d+):(\[\]|\{\})?(<>)?(?:\[\])?([\w.]+)(\*?)(!?)$/.exec(source);
  if (!match) throw new Error(`malformed table entry ${source}`);
  const [, name = "", number, mark, wrapped, type = "", pointer, always] = match;
  const list = mark === "[]" || (wrapped !== undefined && mark === undefined);
  return {
    name: name === "~" ? "" : name,
    number: Number(number),
    type,
    shape: mark === "{}" ? "map" : list ? "list" : "one",
    wrapped: wrapped !== undefined,
    pointer: pointer === "*",
    always: always === "!",
  };
}

/** The struct of a kind: "apps.Deployment" of apps/v1 Deployment. Only v1 is known, and autoscaling/v2. */
export function structOf(apiVersion: string, kind: string): string | undefined {
  if (kind === "DeleteOptions") return "meta.DeleteOptions";
  const [group = "", version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  if (version !== "v1") return apiVersion === "autoscaling/v2" ? `autoscaling2.${kind}` : undefined;
  return `${group.split(".")[0] || "core"}.${kind}`;
}
