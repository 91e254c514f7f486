import { admissionKinds } from "../admission/kinds.ts";
import { builtIns, type BuiltIns } from "../contract/catalog.ts";
import { apiServiceKinds } from "./api-service.ts";
import { coreKinds } from "./core.ts";
import { flowControlKinds } from "./flow-control.ts";
import { otherKinds } from "./groups.ts";
import { serviceRangeKinds } from "./service-range.ts";
import { storedKinds } from "./stored.ts";

/** The kinds that every logical cluster has. */
export function builtInKinds(): BuiltIns {
  return builtIns([
    ...coreKinds(),
    ...otherKinds(),
    ...storedKinds(),
    ...admissionKinds(),
    ...flowControlKinds(),
    ...serviceRangeKinds(),
    ...apiServiceKinds(),
  ]);
}
