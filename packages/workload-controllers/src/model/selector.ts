import type { LabelSelector, NodeSelector, NodeSelectorTerm, Requirement } from "./spec.ts";

/** Labels of an object, as they are in its metadata. */
export type Labels = Readonly<Record<string, string>>;
/** A label selector that was read once, to be tried on many objects. */
export type LabelTest = (labels: Labels) => boolean;

const never: LabelTest = () => false;

/** A selector that is absent selects nothing, one that is empty selects all. */
export function labelTest(selector: LabelSelector | null | undefined): LabelTest {
  if (!selector) return never;
  const wanted = Object.entries(selector.matchLabels ?? {});
  const expressions = (selector.matchExpressions ?? []).map(requirementTest);
  return (labels) => wanted.every(([key, value]) => labels[key] === value) && expressions.every((test) => test(labels));
}

function requirementTest({ key, operator, values = [] }: Requirement): LabelTest {
  const among = new Set(values);
  const [bound = ""] = values;
  switch (operator) {
    case "In":
      return (labels) => labels[key] !== undefined && among.has(labels[key]);
    case "NotIn":
      return (labels) => labels[key] === undefined || !among.has(labels[key]);
    case "Exists":
      return (labels) => labels[key] !== undefined;
    case "DoesNotExist":
      return (labels) => labels[key] === undefined;
    case "Gt":
      return (labels) => compares(labels[key], bound, (a, b) => a > b);
    case "Lt":
      return (labels) => compares(labels[key], bound, (a, b) => a < b);
    default:
      return never;
  }
}

function compares(label: string | undefined, bound: string, is: (a: number, b: number) => boolean): boolean {
  if (label === undefined || !/^-?\d+$/.test(label) || !/^-?\d+$/.test(bound)) return false;
  return is(Number(label), Number(bound));
}

interface Named {
  readonly metadata: { readonly name: string; readonly labels?: Labels };
}

/** A node selector that was read once, to be tried on many nodes. */
export type NodeSelectorTest = (node: Named) => boolean;

/** A term without requirements selects no node. */
export function nodeTermTest(term: NodeSelectorTerm): NodeSelectorTest {
  const expressions = (term.matchExpressions ?? []).map(requirementTest);
  const fields = (term.matchFields ?? []).map((one) => (one.key === "metadata.name" ? requirementTest(one) : never));
  if (expressions.length + fields.length === 0) return () => false;
  return ({ metadata }) =>
    expressions.every((test) => test(metadata.labels ?? {})) &&
    fields.every((test) => test({ "metadata.name": metadata.name }));
}

/** One of the terms has to hold. An absent selector selects every node. */
export function nodeSelectorTest(selector: NodeSelector | undefined): NodeSelectorTest {
  if (!selector) return () => true;
  const terms = (selector.nodeSelectorTerms ?? []).map(nodeTermTest);
  return (node) => terms.some((test) => test(node));
}
