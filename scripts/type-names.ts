/** Types are named by standard nouns (docs/style.md): no gerunds and pronouns. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Nouns that end as gerunds do; also as the end of a longer name. */
const NOUNS: readonly string[] =
  "Binding Mapping Finding Warning Setting String Thing Ceiling Rating Forwarding Balancing Listing Greeting".split(
    " ",
  );
const REFUSED = /^(?:\w*ing|Asked|Sought|Looked|Wish|How|Who|What|Whose)$/;
const DECLARED = /^\s*(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class) ([A-Z]\w*)\b(?! from)/gm;

/** Types of packages and tests whose names are refused, as "file name". */
export function checkTypeNames(root: string, places: readonly string[] = ["packages", "test", "scripts"]): string[] {
  return places.flatMap((place) =>
    readdirSync(join(root, place), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !/(?:^|\/)node_modules\//.test(file))
      .toSorted()
      .flatMap((file) =>
        namesIn(readFileSync(join(root, place, file), "utf8")).map(
          (name) => `${place}/${file}: type ${name} is named by a gerund or pronoun; use a noun (docs/style.md)`,
        ),
      ),
  );
}

function namesIn(text: string): string[] {
  return [...text.matchAll(DECLARED)]
    .map(([, name = ""]) => name)
    .filter((name) => REFUSED.test(name) && !NOUNS.some((noun) => name.endsWith(noun)));
}
