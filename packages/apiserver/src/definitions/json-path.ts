import { isRecord } from "../json/json.ts";

type Step = (values: readonly unknown[]) => readonly unknown[];

/** Reads the simple JSONPaths of printer columns: fields, indexes, [*] and [?(@.name=="value")]. */
export function columnReader(path: string): (object: unknown) => unknown {
  const steps = stepsOf(path);
  return (object) => {
    let values: readonly unknown[] = [object];
    for (const step of steps) values = step(values);
    return values.length > 1 ? values.join(",") : values[0];
  };
}

const TOKEN =
  /\.?\['([^']+)'\]|\.?\["([^"]+)"\]|\[\?\(@\.([^=!<>\s]+)\s*==\s*["']([^"']*)["']\)\]|\[(\*|-?\d+)\]|\.?((?:[^.[\]\\]|\\.)+)/y;

function stepsOf(path: string): Step[] {
  const steps: Step[] = [];
  const source = path.replace(/^\{|\}$/g, "").replace(/^\$/, "");
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const match = TOKEN.exec(source);
    if (!match) return [() => []];
    const [, quoted, doubled, filterField, filterValue, index, plain] = match;
    const name = (quoted ?? doubled ?? plain)?.replace(/\\(.)/g, "$1");
    if (filterField !== undefined) steps.push(filter(filterField.split("."), filterValue ?? ""));
    else if (index !== undefined) steps.push(item(index));
    else steps.push(field(name ?? ""));
  }
  return steps;
}

function field(name: string): Step {
  return (values) => values.flatMap((v) => (isRecord(v) && v[name] !== undefined ? [v[name]] : []));
}

function item(index: string): Step {
  return (values) =>
    values.flatMap((v): readonly unknown[] => {
      if (!Array.isArray(v)) return isRecord(v) && index === "*" ? Object.values(v) : [];
      if (index === "*") return v as unknown[];
      const found: unknown = v.at(Number(index));
      return found === undefined ? [] : [found];
    });
}

function filter(path: readonly string[], wanted: string): Step {
  return (values) =>
    values.flatMap((v) =>
      (Array.isArray(v) ? (v as unknown[]) : []).filter((entry) => {
        let here: unknown = entry;
        for (const name of path) here = isRecord(here) ? here[name] : undefined;
        return String(here as string) === wanted;
      }),
    );
}
