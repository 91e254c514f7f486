import type { CelEnvironment } from "./cel-environment.ts";
import { CostError } from "./cost-error.ts";
import { equal } from "./equality.ts";

class Sets {}

/** Each item of one list is compared with all of the other. */
const COMPARISONS = 1_000_000;

/** cel-go's sets: lists whose order and repetitions do not count. */
export function registerSets(environment: CelEnvironment): void {
  environment.registerType("cel.Sets", Sets);
  environment.registerConstant("sets", "cel.Sets", new Sets());
  type List = readonly unknown[];
  const priced = (a: List, b: List): void => {
    if (a.length * b.length > COMPARISONS) throw new CostError("operation cancelled: actual cost limit exceeded");
  };
  const has = (list: List, item: unknown): boolean => list.some((other) => equal(other, item));
  const covers = (list: List, sub: List): boolean => {
    priced(list, sub);
    return sub.every((item) => has(list, item));
  };
  environment
    .registerFunction("cel.Sets.contains(list, list): bool", (_: Sets, a: List, b: List) => covers(a, b))
    .registerFunction(
      "cel.Sets.equivalent(list, list): bool",
      (_: Sets, a: List, b: List) => covers(a, b) && covers(b, a),
    )
    .registerFunction("cel.Sets.intersects(list, list): bool", (_: Sets, a: List, b: List) => {
      priced(a, b);
      return a.some((x) => has(b, x));
    });
}
