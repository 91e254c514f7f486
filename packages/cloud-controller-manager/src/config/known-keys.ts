import { suggestion } from "@causeway/foundation";
import { settings } from "./settings.ts";

/** Sections as a parsed file has them, in lower case. */
const known = new Map(
  Object.entries(settings).map(([section, keys]) => [section.toLowerCase(), keys && Object.keys(keys)]),
);

/** The warning about a section that is not read; undefined for a known section. */
export function unknownSection(section: string): string | undefined {
  return known.has(section) ? undefined : `section [${section}] is not known${suggestion(section, [...known.keys()])}`;
}

/** The warning about a key that is not read; undefined for a known one, and in a section that is not known. */
export function unknownKey(section: string, key: string): string | undefined {
  const keys = known.get(section);
  if (keys === undefined || keys.includes(key)) return undefined;
  return `key ${key} of [${section}] is not known${suggestion(key, keys)}`;
}
