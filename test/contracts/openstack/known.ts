/** How an answer of the simulated cloud differs from the real one's, and why it is left so. */
export interface KnownDifference {
  readonly how: string;
  readonly why: string;
}

const emptyBody: KnownDifference = {
  how: "answers 400 with Octavia's message instead of 500",
  why: "the real service reads an attribute of a missing body and fails: a defect that later releases fix",
};

const collection = "load-balancer/every collection";

/** By "service/group/case". A case that differs no more must leave this list. */
export const knownDifferences: Readonly<Record<string, KnownDifference>> = {
  [`${collection}/makes loadbalancer of a body without it`]: emptyBody,
  [`${collection}/makes listener of a body without it`]: emptyBody,
  [`${collection}/makes pool of a body without it`]: emptyBody,
  [`${collection}/makes healthmonitor of a body without it`]: emptyBody,
  [`${collection}/makes l7policy of a body without it`]: emptyBody,
};
