import * as fc from "fast-check";
import { Choices } from "./choices.ts";
import { BUILT_IN } from "./kinds.ts";
import { applyOperation, operation, type Operation } from "./operations.ts";
import type { Subject } from "./subject.ts";

export type Profile = "general" | "apply" | "workloads";

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
const APPLIED = ["ConfigMap", "Service", "Secret", "ServiceAccount", "Role", "Node"];

/** Kinds whose specs hold pods have many rules, and so a profile of their own. */
const PODS: ReadonlySet<string> = new Set(["Pod", "Deployment", "Job"]);
const WORKLOADS = BUILT_IN.filter(({ kind }) => PODS.has(kind));
const OTHERS = BUILT_IN.filter(({ kind }) => !PODS.has(kind));

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

/** `custom` is the sequence's custom kind; sequences of workloads have none. */
export function subjectsOf({ profile, subjects }: Sequence, custom?: Subject): readonly [Subject, ...Subject[]] {
  const [first = 0, second = 0, third = 0] = subjects;
  const of = (kinds: readonly Subject[], n: number): Subject => kinds[n % kinds.length] ?? BUILT_IN[0];
  if (custom === undefined) return [of(WORKLOADS, first), of(WORKLOADS, second)];
  if (profile === "general")
    return [of(OTHERS, first), third % 2 === 0 ? custom : of(OTHERS, third), of(OTHERS, second)];
  if (first % 3 > 0) return [custom];
  const owned = OTHERS.filter(({ kind }) => APPLIED.includes(kind));
  return [of(owned, second)];
}

export function operationsOf(sequence: Sequence, subjects: readonly [Subject, ...Subject[]]): Operation[] {
  const make = isApplied(sequence) ? applyOperation : operation;
  return sequence.operations.map((numbers) => {
    const choices = new Choices(numbers);
    return make(choices, choices.pick(subjects));
  });
}

/** A third of the sequences of workloads are around apply. */
function isApplied({ profile, subjects }: Sequence): boolean {
  return profile === "apply" || (profile === "workloads" && (subjects[2] ?? 0) % 3 === 2);
}
