import * as fc from "fast-check";
import { Choices } from "./choices.ts";
import { BUILT_IN } from "./kinds.ts";
import { applyOperation, operation, type Operation } from "./operations.ts";
import type { Subject } from "./subject.ts";

export type Profile = "general" | "apply";

/** A sequence as numbers, so that fast-check can make it smaller. */
export interface Sequence {
  readonly profile: Profile;
  /** Which custom kind it may use. */
  readonly custom: number;
  /** Which kinds its operations are about. */
  readonly subjects: readonly number[];
  readonly operations: readonly (readonly number[])[];
}

const DRAWS = 96;
/** Kinds whose lists and maps have owners of their own come more often where apply is concerned. */
const APPLIED = ["ConfigMap", "Service", "Deployment", "Secret", "ServiceAccount", "Pod", "Role", "Node"];

/** Kinds whose specs hold pods are tried where CAUSEWAY_FUZZ_WORKLOADS asks for them: pods are not held to all of upstream's rules here. */
const PODS: ReadonlySet<string> = new Set(["Pod", "Deployment", "Job"]);
const WITH_PODS = process.env["CAUSEWAY_FUZZ_WORKLOADS"] !== undefined;
const TRIED = BUILT_IN.filter(({ kind }) => WITH_PODS || !PODS.has(kind));

export function sequences(profile: Profile, length: number, customKinds: number): fc.Arbitrary<Sequence> {
  const number = fc.noBias(fc.nat({ max: 0xffff }));
  const draws = fc.array(number, { minLength: DRAWS, maxLength: DRAWS, size: "max" });
  return fc.record({
    profile: fc.constant(profile),
    custom: fc.noBias(fc.nat({ max: customKinds - 1 })),
    subjects: fc.array(number, { minLength: 3, maxLength: 3 }),
    operations: fc.noBias(fc.array(draws, { minLength: 1, maxLength: length, size: "max" })),
  });
}

export function subjectsOf({ profile, subjects }: Sequence, custom: Subject): readonly [Subject, ...Subject[]] {
  const [first = 0, second = 0, third = 0] = subjects;
  const builtIn = (n: number): Subject => TRIED[n % TRIED.length] ?? BUILT_IN[0];
  if (profile === "general") return [builtIn(first), third % 2 === 0 ? custom : builtIn(third), builtIn(second)];
  if (first % 3 > 0) return [custom];
  const owned = TRIED.filter(({ kind }) => APPLIED.includes(kind));
  return [owned[second % owned.length] ?? BUILT_IN[0]];
}

export function operationsOf(sequence: Sequence, subjects: readonly [Subject, ...Subject[]]): Operation[] {
  return sequence.operations.map((numbers) => {
    const choices = new Choices(numbers);
    const subject = choices.pick(subjects);
    return sequence.profile === "general" ? operation(choices, subject) : applyOperation(choices, subject);
  });
}
