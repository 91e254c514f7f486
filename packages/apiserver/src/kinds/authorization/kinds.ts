import { define } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";

const REVIEW = { clusterScoped: true, verbs: ["create"] } as const;

/** Reviews of access and of tokens: kinds that are requested and never stored. */
export function reviewKinds(): Resource[] {
  const group = "authorization.k8s.io";
  return [
    define({ ...REVIEW, group, kind: "SelfSubjectAccessReview", plural: "selfsubjectaccessreviews" }),
    define({ ...REVIEW, group, kind: "SelfSubjectRulesReview", plural: "selfsubjectrulesreviews" }),
    define({ ...REVIEW, group, kind: "SubjectAccessReview", plural: "subjectaccessreviews" }),
    define({
      ...REVIEW,
      group,
      kind: "LocalSubjectAccessReview",
      plural: "localsubjectaccessreviews",
      clusterScoped: false,
    }),
    define({ ...REVIEW, group: "authentication.k8s.io", kind: "TokenReview", plural: "tokenreviews" }),
    define({ ...REVIEW, group: "authentication.k8s.io", kind: "SelfSubjectReview", plural: "selfsubjectreviews" }),
  ];
}
