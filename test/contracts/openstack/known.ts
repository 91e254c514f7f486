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
  [`${collection}/a POST body without the loadbalancer is rejected`]: emptyBody,
  [`${collection}/a POST body without the listener is rejected`]: emptyBody,
  [`${collection}/a POST body without the pool is rejected`]: emptyBody,
  [`${collection}/a POST body without the healthmonitor is rejected`]: emptyBody,
  [`${collection}/a POST body without the l7policy is rejected`]: emptyBody,
};
