/** What one project may have, so that it does not fill the management cluster. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { MagnumClusterTemplate } from "@causeway/api";
import { openStage, type Json, type Reply, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

const listIn = (body: Json, name: string) => body[name] as readonly Json[];
/** What clients print of a refusal. */
const titleOf = ({ body }: Reply): string => String(listIn(body, "errors")[0]?.["title"]);

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ maxTemplates: 4 });
});
afterAll(() => stage.close());

const call = (method: string, path: string, body?: unknown, who = "demo"): Promise<Reply> =>
  stage.call(who, method, path, { body });
const templates = "/v1/clustertemplates";
const template = {
  name: "small",
  coe: "kubernetes",
  image_id: "cirros",
  flavor_id: "m1.small",
  external_network_id: "public",
};

describe("templates of a project", () => {
  it("are limited, at once for requests at the same time, and a deleted one makes room", async () => {
    const answers = await Promise.all(Array.from({ length: 7 }, () => call("POST", templates, template)));
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 403);
    expect([made.length, refused.length]).toEqual([4, 3]);
    for (const each of refused)
      expect(titleOf(each)).toBe(
        "Resource limit exceeded: You have reached the maximum cluster templates per project, 4",
      );
    expect((await stage.client.list(MagnumClusterTemplate)).items).toHaveLength(4);
    expect((await call("POST", templates, template, "alt")).status).toBe(201);
    for (const { body } of made)
      expect((await call("DELETE", `${templates}/${String(body["uuid"])}`)).status).toBe(204);
    expect((await call("POST", templates, template)).status).toBe(201);
  });
});

describe("labels of one object", () => {
  const large = Object.fromEntries([1, 2, 3].map((at) => [`note${at}`, "x".repeat(12_000)]));
  const why = "labels are refused: together they have 36015 bytes, and at most 32768 are accepted";

  it("have at most 32 KiB together, those of the template included", async () => {
    const reply = await call("POST", templates, { ...template, labels: large });
    expect([reply.status, titleOf(reply)]).toEqual([400, why]);
    expect((await call("POST", templates, { ...template, labels: large }, "reader")).status).toBe(403);
    const { note1, ...rest } = large;
    const made = await call("POST", templates, { ...template, labels: rest });
    expect(made.status).toBe(201);
    const path = `${templates}/${String(made.body["uuid"])}`;
    const patched = await call("PATCH", path, [{ op: "add", path: "/labels/note1", value: note1 }]);
    expect([patched.status, titleOf(patched)]).toEqual([400, why]);
    const create = (more: object) => call("POST", "/v1/clusters", { cluster_template_id: made.body["uuid"], ...more });
    const merged = await create({ labels: { note1 }, merge_labels: true });
    expect([merged.status, titleOf(merged)]).toEqual([400, why]);
    expect((await create({ labels: { note1 } })).status).toBe(202);
  });
});
