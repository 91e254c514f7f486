import type { Plan } from "@causeway/kubernetes";
import { attributesClassFinalizer } from "../objects/storage.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** A class is kept while a claim or a volume names it. */
export function plan({ attributesClass, isUsed }: Observed): Plan<Step, undefined> {
  const { deletionTimestamp, finalizers = [] } = attributesClass.metadata;
  const isProtected = finalizers.includes(attributesClassFinalizer);
  const steps: Step[] = [];
  if (deletionTimestamp === undefined && !isProtected) steps.push({ type: "protect" });
  if (deletionTimestamp !== undefined && isProtected && !isUsed) steps.push({ type: "unprotect" });
  return { steps, status: undefined };
}
