import { expect, test } from "vitest";
import { culpritOf } from "./check.ts";

const victim = 'failed calling webhook "victim.example.com": no answer';

test.for<[title: string, message: string, culprit: ReturnType<typeof culpritOf>]>([
  ["is the webhook that failed", victim, { name: "victim.example.com", isFailure: true }],
  [
    "is the webhook that failed, in the words of kube-apiserver",
    `Internal error occurred: ${victim}`,
    { name: "victim.example.com", isFailure: true },
  ],
  [
    "is the webhook that denied it, in whatever words",
    `admission webhook "guard.example.com" denied the request: ${victim}`,
    { name: "guard.example.com", isFailure: false },
  ],
  [
    "is no webhook where a policy denied it in the words of a failure",
    `leases.coordination.k8s.io "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${victim}`,
    undefined,
  ],
  [
    "is no webhook where a policy denied it in the words of a denial",
    `pods "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: admission webhook "victim.example.com" denied`,
    undefined,
  ],
  [
    "is no webhook where a policy speaks of an error",
    `ValidatingAdmissionPolicy 'p': Internal error occurred: ${victim}`,
    undefined,
  ],
])("the culprit of a refused request %s", ([, message, culprit]) => {
  expect(culpritOf(message)).toEqual(culprit);
});
