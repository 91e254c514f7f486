import { isAccessReview } from "../auth/reviews.ts";
import { isRecord } from "../json/json.ts";
import { apiVersionOf, type Served } from "../contract/resource.ts";
import type { RequestInfo } from "../contract/request-info.ts";

/**
 * The body of a review, or of a subresource with a kind of its own, with the apiVersion and kind that it leaves out:
 * the endpoint says what they are. Bodies of other resources are read with theirs.
 */
export function typedBody(body: unknown, served: Served, { verb, subresource }: RequestInfo): unknown {
  if ((verb !== "create" && verb !== "update") || !isRecord(body)) return body;
  const { resource, version } = served;
  const own = { group: resource.group, version: version.name, kind: resource.kind };
  const type =
    subresource === ""
      ? isAccessReview(resource) || resource.kind === "Binding"
        ? own
        : undefined
      : version.subresources?.find((s) => s.name === subresource)?.type;
  if (!type || (body["kind"] && body["apiVersion"])) return body;
  const apiVersion = body["apiVersion"] || apiVersionOf(type.group, type.version);
  return { ...body, apiVersion, kind: body["kind"] || type.kind };
}
