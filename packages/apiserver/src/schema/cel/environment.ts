import { Environment } from "@marcbachmann/cel-js";
import { registerLists } from "./lists.ts";
import { registerNetworks } from "./networks.ts";
import { registerQuantities } from "./quantities.ts";
import { registerStrings } from "./strings.ts";

export type CelEnvironment = Environment;

/** CEL as rules of custom resources know it: `self`, `oldSelf`, and the function libraries of Kubernetes. */
export function createEnvironment(): CelEnvironment {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: { maxAstNodes: 10_000, maxDepth: 100 },
  })
    .registerVariable("self", "dyn")
    .registerVariable("oldSelf", "dyn");
  registerLists(environment);
  registerStrings(environment);
  registerNetworks(environment);
  registerQuantities(environment);
  return environment;
}

/** A Go duration string as CEL's own value. */
export function parseDuration(environment: CelEnvironment, text: string): unknown {
  return environment.evaluate("duration(self)", { self: text });
}
