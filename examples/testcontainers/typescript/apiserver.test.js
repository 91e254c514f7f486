// @ts-check
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:https";
import { test } from "node:test";
import { GenericContainer, Wait } from "testcontainers";

const image = process.env["CAUSEWAY_IMAGE"] ?? "causeway:test";

test("a Kubernetes API with its workload controllers", async () => {
  const container = await new GenericContainer(image)
    .withCommand(["apiserver", "--controllers", "--bind-address", "0.0.0.0", "--port", "6443"])
    .withExposedPorts(6443)
    .withWaitStrategy(Wait.forHttp("/readyz", 6443).usingTls().allowInsecure())
    .start();
  try {
    const kubeconfig = await file(container, "/var/lib/causeway/.causeway/kubernetes/admin.kubeconfig");
    const [ca, cert, key] = ["certificate-authority-data", "client-certificate-data", "client-key-data"].map((name) =>
      Buffer.from(new RegExp(`${name}: (\\S+)`).exec(kubeconfig)?.[1] ?? "", "base64"),
    );
    const port = container.getMappedPort(6443);
    const sent = request({ host: "127.0.0.1", port, path: "/api/v1/namespaces/default", ca, cert, key }).end();
    const [response] = await once(sent, "response");
    assert.equal(response.statusCode, 200);
    response.resume();
  } finally {
    await container.stop();
  }
});

/** @param {import("testcontainers").StartedTestContainer} container @param {string} path */
async function file(container, path) {
  const archive = await container.copyArchiveFromContainer(path);
  const chunks = [];
  for await (const chunk of archive) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}
