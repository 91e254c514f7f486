import type { Json } from "../../json/json.ts";

/** Fills one struct in, in place, before what is in it is filled in. Fields that are empty are not there then. */
export type Rule = (value: Json) => void;

/** Rules by the name of the struct they fill in. */
export type Rules = Readonly<Record<string, Rule>>;

/** Default values of absent fields. */
export function fill(values: Json): Rule {
  return (value) => {
    for (const [name, given] of Object.entries(values)) value[name] ??= structuredClone(given);
  };
}
