import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testCloud, type TestCloud } from "../testing/kernel.ts";
import { passesFilter } from "./rules/download.ts";
import { createImageService } from "./service.ts";

const bytes = Buffer.from("an image".repeat(1000));
let server: Server;
let base: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === "/image.raw") response.end(bytes);
    else response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const imageCloud = (): TestCloud => testCloud((kernel) => [{ root: "/image", service: createImageService(kernel) }]);

interface Body {
  readonly id: string;
  readonly status: string;
  readonly [field: string]: unknown;
}

async function made(
  cloud: TestCloud,
): Promise<{ id: string; call: ReturnType<TestCloud["as"]>; show: () => Promise<Body> }> {
  const call = cloud.as("demo");
  const image = { name: "i", disk_format: "raw", container_format: "bare" };
  const { id } = (await call("POST", "/image/v2/images", image)).body as Body;
  return { id, call, show: async () => (await call("GET", `/image/v2/images/${id}`)).body as Body };
}

/** The status of a POST; Glance's refusals are pages. */
async function posted(cloud: TestCloud, path: string, body: unknown): Promise<number> {
  const headers = { "x-auth-token": "demo", "content-type": "application/json" };
  return (await cloud.app.request(path, { method: "POST", headers, body: JSON.stringify(body) })).status;
}

/** What an image or task is in the end. */
async function settled(show: () => Promise<Body>, status: string): Promise<Body> {
  for (let left = 200; left > 0; left--) {
    const body = await show();
    if (body.status === status) return body;
    await sleep(25);
  }
  return show();
}

const web = (uri: string) => ({ method: { name: "web-download", uri } });

async function taskOf(cloud: TestCloud, imageId: string): Promise<Body> {
  const answer = await cloud.as("admins:admin")("GET", "/image/v2/tasks");
  const tasks = (answer.body as { tasks: Body[] }).tasks;
  const whole = await Promise.all(
    tasks.map(async ({ id }) => (await cloud.as("admins:admin")("GET", `/image/v2/tasks/${id}`)).body as Body),
  );
  return whole.find((task) => task["image_id"] === imageId) ?? { id: "", status: "none" };
}

test("an image is imported from a URL of this machine", async () => {
  const cloud = imageCloud();
  const { id, call, show } = await made(cloud);
  expect((await call("POST", `/image/v2/images/${id}/import`, web(`${base}/image.raw`))).status).toBe(202);
  expect(await taskOf(cloud, id)).toMatchObject({ type: "api_image_import", owner: "demo" });
  const image = await settled(show, "active");
  expect(image).toMatchObject({ status: "active", size: bytes.length, stores: "file", os_glance_failed_import: "" });
  expect(image).not.toHaveProperty("os_glance_import_task");
  const task = await settled(() => taskOf(cloud, id), "success");
  expect(task).toMatchObject({ status: "success", result: { image_id: id }, message: "" });
  expect(await posted(cloud, `/image/v2/images/${id}/import`, web(`${base}/image.raw`))).toBe(409);
});

test("a download that fails leaves the image queued and the task failed", async () => {
  const cloud = imageCloud();
  const { id, call, show } = await made(cloud);
  expect((await call("POST", `/image/v2/images/${id}/import`, web(`${base}/nothing`))).status).toBe(202);
  const task = await settled(() => taskOf(cloud, id), "failure");
  expect(task).toMatchObject({ status: "failure", message: "Task failed due to Internal Error", result: null });
  expect(await show()).toMatchObject({ status: "queued", os_glance_failed_import: "file" });
  expect((await call("POST", `/image/v2/images/${id}/import`, web(`${base}/image.raw`))).status).toBe(202);
  expect((await settled(show, "active")).status).toBe("active");
});

test("staged bytes become the image's by glance-direct", async () => {
  const cloud = imageCloud();
  const { id, call, show } = await made(cloud);
  const direct = { method: { name: "glance-direct" } };
  expect(await posted(cloud, `/image/v2/images/${id}/import`, direct)).toBe(409);
  const stage = () =>
    cloud.app.request(`/image/v2/images/${id}/stage`, {
      method: "PUT",
      headers: { "x-auth-token": "demo", "content-type": "application/octet-stream" },
      body: bytes,
    });
  expect((await stage()).status).toBe(204);
  expect(await show()).toMatchObject({ status: "uploading", size: bytes.length });
  expect((await stage()).status).toBe(409);
  expect((await call("POST", `/image/v2/images/${id}/import`, direct)).status).toBe(202);
  expect(await settled(show, "active")).toMatchObject({ status: "active", size: bytes.length });
});

test("an import is refused before anything is fetched", async () => {
  const cloud = imageCloud();
  const { id } = await made(cloud);
  const refusal = (body: unknown) => posted(cloud, `/image/v2/images/${id}/import`, body);
  expect(await refusal({})).toBe(400);
  expect(await refusal({ method: {} })).toBe(400);
  expect(await refusal({ method: { name: "copy-image" } })).toBe(400);
  expect(await refusal(web("ftp://127.0.0.1/x"))).toBe(400);
  expect(await posted(cloud, "/image/v2/images/none/import", web(base))).toBe(404);
});

test("images are fetched from the usual ports, and from any unprivileged one of this machine", () => {
  const passed = [
    "http://a.example/x",
    "https://a.example:443/x",
    "http://127.0.0.1:8080/x",
    "http://localhost:1024/x",
  ];
  expect(passed.filter(passesFilter)).toEqual(passed);
  const not = ["http://a.example:8080/x", "http://127.0.0.1:25/x", "ftp://a.example/x", "file:///etc/passwd", "x", ""];
  expect(not.filter(passesFilter)).toEqual([]);
  expect(passesFilter(undefined)).toBe(false);
});
