import { KINDS, type Generator, type Input, type Kind } from "./input.ts";
import { apply } from "./kinds/apply.ts";
import { cel } from "./kinds/cel.ts";
import { header } from "./kinds/header.ts";
import { json } from "./kinds/json.ts";
import { jsonPatch, mergePatch, strategicPatch } from "./kinds/patches.ts";
import { protobuf } from "./kinds/protobuf.ts";
import { continued, path, query, review, selector } from "./kinds/reads.ts";
import { schema } from "./kinds/schema.ts";
import { yaml } from "./kinds/yaml.ts";
import { Random, seedOf } from "./random.ts";

const GENERATORS: Readonly<Record<Kind, Generator>> = {
  json,
  yaml,
  "json-patch": jsonPatch,
  "merge-patch": mergePatch,
  "strategic-patch": strategicPatch,
  apply,
  schema,
  cel,
  selector,
  continue: continued,
  header,
  path,
  query,
  protobuf,
  review,
};

/** kube-apiserver's limit of a body; larger ones only show that it holds. */
const MOST_BODY = 3 * 1024 * 1024;

/** The input of a run's seed and an index: always the same. The kinds take turns. */
export function inputOf(seed: number, index: number, only?: Kind): Input {
  const kind = only ?? KINDS[index % KINDS.length] ?? "json";
  const steps = GENERATORS[kind](new Random(seedOf(seed, index)), index);
  return { kind, index, steps: steps.map((step) => ({ ...step, ...cut(step.body) })) };
}

function cut(body: string | Uint8Array | undefined): { body?: string | Uint8Array } {
  if (body === undefined) return {};
  return { body: body.length > MOST_BODY ? body.slice(0, MOST_BODY + 1) : body };
}
