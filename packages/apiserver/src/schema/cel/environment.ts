import { Environment } from "@marcbachmann/cel-js";
import { registerLists } from "./lists.ts";
import { registerNetworks } from "./networks.ts";
import { registerOptionals } from "./optionals.ts";
import { registerQuantities } from "./quantities.ts";
import { registerMacros } from "./macros.ts";
import { registerNamedFormats } from "./named-formats.ts";
import { registerSemver } from "./semver.ts";
import { registerSets } from "./sets.ts";
import { registerStrings } from "./strings.ts";
import type { CelEnvironment } from "./cel-environment.ts";

/**
 * The environments of one schema: most rules have `oldSelf` as a value, those with `optionalOldSelf` as an optional
 * one.
 */
export interface CelEnvironments {
  of(rule: { readonly optionalOldSelf?: boolean }): CelEnvironment;
}

/** Makes each environment when it is first requested: most schemas have no rules. */
export function createEnvironments(): CelEnvironments {
  const made = new Map<string, CelEnvironment>();
  return {
    of(rule) {
      const oldSelf = rule.optionalOldSelf === true ? "optional<dyn>" : "dyn";
      const environment = made.get(oldSelf) ?? createEnvironment(oldSelf);
      made.set(oldSelf, environment);
      return environment;
    },
  };
}

/** CEL as rules of custom resources know it: `self`, `oldSelf`, and the function libraries of Kubernetes. */
function createEnvironment(oldSelf: string): CelEnvironment {
  return createBaseEnvironment().registerVariable("self", "dyn").registerVariable("oldSelf", oldSelf);
}

/** CEL with the function libraries of Kubernetes, and no variables. */
export function createBaseEnvironment(): CelEnvironment {
  return libraries().clone({});
}

/**
 * Registering the libraries takes milliseconds and copying them none, so it is done once, when the first rule is met.
 */
const libraries = once(registerLibraries);

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function registerLibraries(): CelEnvironment {
  const environment = new Environment({
    // kube-apiserver refuses lists of mixed types, but for the arguments of format(), which the library does not
    // distinguish.
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: { maxAstNodes: 10_000, maxDepth: 100 },
  });
  registerLists(environment);
  registerStrings(environment);
  registerNetworks(environment);
  registerQuantities(environment);
  registerSets(environment);
  registerSemver(environment);
  registerNamedFormats(environment);
  registerMacros(environment);
  registerOptionals(environment);
  return environment;
}

/** A Go duration string as CEL's own value. */
export function parseDuration(environment: CelEnvironment, text: string): unknown {
  return environment.evaluate("duration(self)", { self: text });
}
