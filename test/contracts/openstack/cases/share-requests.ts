import type { RawCase } from "../case.ts";

/** A request's microversion. */
export const at = (minor: string) => ({ "x-openstack-manila-api-version": `2.${minor}` });
/** The newest microversion that the cases use. */
export const now = at("73");

/** The create of a share of 1 GiB, with more attributes. */
export const share = (body: object): Pick<RawCase, "call" | "body" | "headers"> => ({
  call: "POST /shares",
  body: { share: { share_proto: "NFS", size: 1, name: "{run}-x", ...body } },
  headers: now,
});
