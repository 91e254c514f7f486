import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { instrumented, type Mutant } from "./mutants.ts";

export interface Switches {
  /** The mutant that is active; 0 is none. */
  active: number;
  /** How often the active one may still be reached: an endless loop ends by it. */
  budget: number;
  /** How often all of them may still be reached together: a loop may be endless far from the active one. */
  total: number;
  /** Which mutants were reached. */
  readonly reached: Uint8Array;
}

declare global {
  var __mutant: (number: number) => boolean;
}

/** More than any test needs of one place. */
const MOST_REACHED = 2_000_000;
/** More than any test needs of all places. */
const MOST_IN_ALL = 10_000_000;

/** Makes `__mutant` answer. Mutants are numbered from 1. */
export function installSwitches(count: number): Switches {
  const switches: Switches = {
    active: 0,
    budget: MOST_REACHED,
    total: MOST_IN_ALL,
    reached: new Uint8Array(count + 1),
  };
  globalThis.__mutant = (number) => {
    switches.reached[number] = 1;
    if (switches.active === 0) return false;
    switches.total -= 1;
    if (number === switches.active) switches.budget -= 1;
    else if (switches.total >= 0) return false;
    if (switches.budget < 0 || switches.total < 0) throw new Error("the mutant is reached again and again");
    return true;
  };
  return switches;
}

export function activate(switches: Switches, number: number): void {
  switches.active = number;
  switches.budget = MOST_REACHED;
  switches.total = MOST_IN_ALL;
}

export interface Target {
  readonly mutants: readonly Mutant[];
  readonly first: number;
}

const HARNESS = new URL("harness.ts", import.meta.url).href;
const GENERATION = /\?generation=\d+$/;

/**
 * Loads the project's modules with their mutants, and vitest's words from the harness. Modules are evaluated once for
 * each generation that an import names (`?generation=3`), so that what runs while a module is loaded can be run with a
 * mutant too.
 */
export function installHooks(root: string, targets: ReadonlyMap<string, Target>): void {
  const project = pathToFileURL(`${root}/`).href;
  const sources = new Map<string, string>();
  const isOurs = (url: string): boolean => url.startsWith(project) && !url.includes("/node_modules/");
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === "vitest" && context.parentURL !== HARNESS)
        return { url: HARNESS, format: "module-typescript", shortCircuit: true };
      const found = next(specifier, context);
      const generation = GENERATION.exec(context.parentURL ?? "")?.[0];
      if (generation === undefined || GENERATION.test(found.url) || !/\/(packages|test)\//.test(found.url))
        return found;
      return isOurs(found.url) && found.url.endsWith(".ts") ? { ...found, url: found.url + generation } : found;
    },
    load(url, context, next) {
      const plain = url.replace(GENERATION, "");
      if (!isOurs(plain) || !plain.endsWith(".ts")) return next(url, context);
      const path = fileURLToPath(plain);
      let source = sources.get(path);
      if (source === undefined) {
        const target = targets.get(path);
        const text = readFileSync(path, "utf8");
        source = stripTypeScriptTypes(target ? instrumented(text, target.mutants, target.first) : text);
        sources.set(path, source);
      }
      return { format: "module", source, shortCircuit: true };
    },
  });
}
