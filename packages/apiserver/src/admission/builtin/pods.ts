import type { Strategy } from "../../contract/resource.ts";
import { fillLimits } from "./limits.ts";
import { admitPriority } from "./priority.ts";
import { admitRuntimeClass } from "./runtime-class.ts";
import { admitAccount } from "./service-account.ts";
import { admitTolerations } from "./tolerations.ts";

/** What the API server itself makes of a new pod, in kube-apiserver's order. Throws 403. */
export const mutatePod: NonNullable<Strategy["mutate"]> = async (pod, context) => {
  fillLimits(pod, context);
  await admitAccount(pod, context);
  admitPriority(pod, context);
  admitTolerations(pod);
  admitRuntimeClass(pod, context);
};
