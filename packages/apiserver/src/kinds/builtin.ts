import { admissionKinds } from "../admission/kinds.ts";
import { builtIns, type BuiltIns } from "../contract/catalog.ts";
import { extensionKinds } from "./apiextensions/kinds.ts";
import { apiServiceKinds } from "./apiregistration/kinds.ts";
import { appsKinds } from "./apps/kinds.ts";
import { reviewKinds } from "./authorization/kinds.ts";
import { autoscalers } from "./autoscaling/kinds.ts";
import { batchKinds } from "./batch/kinds.ts";
import { certificateKinds } from "./certificates/kinds.ts";
import { coordinationKinds } from "./coordination/kinds.ts";
import { coreKinds } from "./core/kinds.ts";
import { otherCoreKinds } from "./core/other-kinds.ts";
import { discoveryKinds } from "./discovery/kinds.ts";
import { groupEvents } from "./events/kinds.ts";
import { flowControlKinds } from "./flowcontrol/kinds.ts";
import { networkingKinds } from "./networking/kinds.ts";
import { serviceRangeKinds } from "./networking/service-range.ts";
import { nodeKinds } from "./node/kinds.ts";
import { policyKinds } from "./policy/kinds.ts";
import { rbacKinds } from "./rbac/kinds.ts";
import { resourceKinds } from "./resource/kinds.ts";
import { schedulingKinds } from "./scheduling/kinds.ts";
import { storageKinds } from "./storage/kinds.ts";

/** The kinds that every logical cluster has: a folder for each API group. */
export function builtInKinds(): BuiltIns {
  return builtIns([
    ...coreKinds(),
    ...rbacKinds(),
    ...appsKinds(),
    ...batchKinds(),
    ...reviewKinds(),
    groupEvents(),
    ...coordinationKinds(),
    ...discoveryKinds(),
    ...certificateKinds(),
    ...extensionKinds(),
    ...schedulingKinds(),
    ...storageKinds(),
    ...otherCoreKinds(),
    ...networkingKinds(),
    ...resourceKinds(),
    ...policyKinds(),
    ...nodeKinds(),
    autoscalers(),
    ...admissionKinds(),
    ...flowControlKinds(),
    ...serviceRangeKinds(),
    ...apiServiceKinds(),
  ]);
}
