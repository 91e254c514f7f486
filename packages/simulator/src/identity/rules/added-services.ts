import type { JsonObject } from "../../kernel/json.ts";
import { plainTable } from "../kit/plain-kinds.ts";
import type { IdentityParts } from "../kit/request.ts";
import type { JsonView } from "../views.ts";

/**
 * Services that an administrator added, with their endpoints, as a token's catalog has them. What is disabled is left
 * out.
 */
export function addedServices(parts: Pick<IdentityParts, "kernel">, projectId: string): readonly JsonView[] {
  const endpoints = plainTable(parts, "endpoint").all();
  return plainTable(parts, "service")
    .all()
    .filter(({ fields }) => fields["enabled"] !== false)
    .map(({ id, fields }) => ({
      endpoints: endpoints
        .filter((endpoint) => endpoint.fields["service_id"] === id && endpoint.fields["enabled"] !== false)
        .map((endpoint) => ({ id: endpoint.id, ...faceOf(endpoint.fields, projectId) })),
      id,
      type: fields["type"],
      name: fields["name"] ?? "",
    }));
}

function faceOf(fields: JsonObject, projectId: string): JsonView {
  const { interface: face, region_id, url } = fields;
  const filled = typeof url === "string" ? url.replaceAll(/[$%]\((?:project|tenant)_id\)s/g, projectId) : url;
  return { interface: face, region_id, url: filled, region: region_id };
}
