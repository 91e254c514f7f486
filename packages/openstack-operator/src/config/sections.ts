/** Sections of a configuration file: options by section. Values are text as the file has it. */
export type Sections = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The configuration of a service in two parts: what is not secret, and what has passwords. */
export interface ServiceConfiguration {
  readonly open: Sections;
  readonly secret: Sections;
}

/** Later ones win, option by option. */
export function merged(...all: readonly (Sections | undefined)[]): Sections {
  const result: Record<string, Record<string, string>> = {};
  for (const sections of all) {
    for (const [section, options] of Object.entries(sections ?? {}))
      result[section] = { ...result[section], ...options };
  }
  return result;
}

/**
 * The text of a file, in a stable order. Line breaks in a value would start another option: they are refused before
 * (`checkConfiguration`).
 */
export function renderIni(sections: Sections): string {
  const names = Object.keys(sections).toSorted((a, b) => (a === "DEFAULT" ? -1 : b === "DEFAULT" ? 1 : a < b ? -1 : 1));
  return names
    .filter((name) => Object.keys(sections[name] ?? {}).length > 0)
    .map((name) => {
      const options = Object.entries(sections[name] ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
      return `[${name}]\n${options.map(([option, value]) => `${option} = ${value}\n`).join("")}`;
    })
    .join("\n");
}
