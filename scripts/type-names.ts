/** Types are named by standard nouns (docs/style.md): no gerunds and pronouns. Nothing has a name that was replaced. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "./prose.ts";

/** Nouns that end as gerunds do; also as the end of a longer name. */
const NOUNS: readonly string[] =
  "Binding Mapping Finding Warning Setting String Thing Ceiling Rating Forwarding Balancing Listing Greeting".split(
    " ",
  );
const REFUSED = /^(?:\w*ing|Asked|Sought|Looked|Wish|How|Who|What|Whose)$/;
const DECLARED = /^\s*(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class) ([A-Z]\w*)\b(?! from)/gm;

/** Names of files, functions and values that have a term of the field, and that term. */
const REPLACED: readonly (readonly [name: RegExp, instead: string])[] = [
  [/\b(?:contraptions?|CONTRAPTIONS?|Contraptions?)\b/, "widget"],
  [/\b(?:noteE|e)mptied\b/, "emptyMaps"],
  [/\bstray(?:Problems?)?\b/, "unknownFields"],
  [/\b(?:foresee|toCome)\b/, "dryRun"],
  [/\b(?:[sS]ilences|Standing)\b/, "tracker"],
  [/\b(?:keepHouse|housekeepingAfter)\b/, "cleanup"],
  [/\b(?:patience|PATIENCE)\b/, "resyncInterval"],
  // A search in a table is a lookup.
  [/\b(?:un)?look(?:s|ed|For\w*|At\w*|Again)?(?=[\x20]*[(:=,;)}.]|\b:)/, "check, read, search"],
  [/\b(?:chosenOnce|choosingOnce)\b/, "immutableFields"],
];
const IN_FILES =
  /(?:^|[/-])(?:contraptions?|emptied|stray|foresee|silences|standing|residue|chosen-once|choosing|questions)(?=[.-])/;

/** Types of packages and tests whose names are refused, as "file name", and names that were replaced. */
export function checkTypeNames(root: string, places: readonly string[] = ["packages", "test", "scripts"]): string[] {
  return places.flatMap((place) =>
    readdirSync(join(root, place), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !/(?:^|\/)node_modules\//.test(file))
      .toSorted()
      .flatMap((file) => problemsOf(join(root, place, file), `${place}/${file}`)),
  );
}

function problemsOf(file: string, name: string): string[] {
  const text = readFileSync(file, "utf8");
  const types = [...text.matchAll(DECLARED)]
    .map(([, type = ""]) => type)
    .filter((type) => REFUSED.test(type) && !NOUNS.some((noun) => type.endsWith(noun)))
    .map((type) => `${name}: type ${type} is named by a gerund or pronoun; use a noun (docs/style.md)`);
  const suspects = REPLACED.filter(([pattern]) => pattern.test(text));
  // Comments and texts may have such a word in another sense.
  const code = suspects.length > 0 ? codeOf(file, text) : "";
  const names = suspects.flatMap(([pattern, instead]) => {
    const [found] = pattern.exec(code) ?? [];
    return found === undefined ? [] : [`${name}: ${found} was replaced by a term of the field, as ${instead}`];
  });
  return [...types, ...names, ...(IN_FILES.test(name) ? [`${name}: name the file by a term of the field`] : [])];
}
