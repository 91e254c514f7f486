import { expect, test } from "vitest";
import { testCloud } from "../testing/kernel.ts";
import { createPlacementService } from "./service.ts";

/** Placement 1.39 as an administrator; what answers is parsed without ceremony. */
function placement() {
  const cloud = testCloud((kernel) => [{ root: "/placement", service: createPlacementService(kernel) }]);
  return async (method: string, path: string, body?: unknown) => {
    const headers = { "x-auth-token": "ops:admin", "openstack-api-version": "placement 1.39" };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const response = await cloud.app.request(`/placement${path}`, init);
    const text = await response.text();
    const answer = (text === "" ? {} : JSON.parse(text)) as Readonly<Record<string, unknown>>;
    const [error] = (answer["errors"] ?? []) as readonly { readonly detail: string; readonly code: string }[];
    return { status: response.status, answer, code: error?.code, detail: error?.detail ?? "" };
  };
}

const consumer = "/allocations/3c1d6b22-8a4c-4d5a-9f0b-222222222222";

/** Statuses, codes and words are those of the real service, called in this order. */
test("a resource provider is created, gets inventories and allocations, and is deleted only when it has none", async () => {
  const call = placement();
  const made = await call("POST", "/resource_providers", { name: "shelf" });
  const id = String(made.answer["uuid"] as string);
  expect(made).toMatchObject({ status: 200, answer: { name: "shelf", generation: 0, root_provider_uuid: id } });
  expect(await call("POST", "/resource_providers", { name: "shelf" })).toMatchObject({
    status: 409,
    code: "placement.duplicate_name",
  });
  const inventory = { resource_provider_generation: 0, inventories: { VCPU: { total: 4 } } };
  expect(await call("PUT", `/resource_providers/${id}/inventories`, inventory)).toMatchObject({
    status: 200,
    answer: {
      resource_provider_generation: 1,
      inventories: { VCPU: { total: 4, max_unit: 2147483647, allocation_ratio: 1 } },
    },
  });
  expect((await call("PUT", `/resource_providers/${id}/inventories`, inventory)).code).toBe(
    "placement.concurrent_update",
  );
  const take = (VCPU: number) =>
    call("PUT", consumer, {
      allocations: { [id]: { resources: { VCPU } } },
      project_id: "a",
      user_id: "b",
      consumer_generation: null,
      consumer_type: "INSTANCE",
    });
  expect((await take(9)).detail).toContain("The requested amount would exceed the capacity.");
  expect((await take(2)).status).toBe(204);
  expect((await take(2)).code).toBe("placement.concurrent_update");
  expect((await call("GET", "/usages?project_id=a")).answer).toEqual({
    usages: { INSTANCE: { VCPU: 2, consumer_count: 1 } },
  });
  expect((await call("GET", `/resource_providers/${id}/usages`)).answer["usages"]).toEqual({ VCPU: 2 });
  const candidates = await call("GET", "/allocation_candidates?resources=VCPU:3");
  expect(JSON.stringify(candidates.answer)).not.toContain(id);
  expect((await call("DELETE", `/resource_providers/${id}`)).code).toBe("placement.resource_provider.inuse");
  expect((await call("DELETE", consumer)).status).toBe(204);
  expect((await call("DELETE", `/resource_providers/${id}`)).status).toBe(204);
  expect((await call("DELETE", `/resource_providers/${id}`)).detail).toContain(`${id} found for delete`);
});

test("custom traits and resource classes can be created, and not deleted while they are used", async () => {
  const call = placement();
  const id = String((await call("POST", "/resource_providers", { name: "shelf" })).answer["uuid"] as string);
  const put = (generation: number) =>
    call("PUT", `/resource_providers/${id}/traits`, {
      resource_provider_generation: generation,
      traits: ["CUSTOM_BLUE"],
    });
  expect(await put(0)).toMatchObject({ status: 400, detail: expect.stringContaining("No such trait CUSTOM_BLUE") });
  expect((await call("PUT", "/traits/CUSTOM_BLUE")).status).toBe(201);
  expect((await call("PUT", "/traits/CUSTOM_BLUE")).status).toBe(204);
  expect((await put(0)).answer).toEqual({ traits: ["CUSTOM_BLUE"], resource_provider_generation: 1 });
  expect((await call("DELETE", "/traits/CUSTOM_BLUE")).status).toBe(409);
  expect((await call("PUT", "/resource_classes/CUSTOM_LICENCE")).status).toBe(201);
  expect((await call("DELETE", "/resource_classes/CUSTOM_LICENCE")).status).toBe(204);
  expect((await call("DELETE", "/resource_classes/VCPU")).status).toBe(400);
});

test("the hosts of Nova are providers with capacity, and a query that names no resource is refused", async () => {
  const call = placement();
  const { answer } = await call("GET", "/allocation_candidates?resources=VCPU:1,MEMORY_MB:64&limit=1");
  expect(Object.values(answer["provider_summaries"] as object)[0]).toMatchObject({
    resources: { VCPU: { capacity: 16000, used: 0 }, MEMORY_MB: { capacity: 1199232, used: 0 } },
  });
  expect((await call("GET", "/allocation_candidates")).code).toBe("placement.query.missing_value");
  expect((await call("GET", "/resource_providers/nope")).detail).toContain("No resource provider with uuid nope found");
});
