import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Kubectl, KubectlCase } from "./kubectl.ts";
import { GROUP, configMap, definition, deployment, gizmo } from "./objects.ts";

/** The group of a kind that is in use from then on. */
export async function gizmos(k: Kubectl): Promise<string> {
  await k.feed(definition(GROUP), "apply", "-f", "-");
  await k.run("wait", "--for=condition=Established", `crd/gizmos.${GROUP}`);
  return GROUP;
}

const stdin = ["-f", "-"] as const;
const serverSide = ["apply", "--server-side", ...stdin] as const;

export const applying: readonly KubectlCase[] = [
  {
    name: "apply: created, unchanged, configured, and what is no longer said goes",
    run: async (k) => {
      expect(await k.feed(configMap("a", { x: "1", y: "2" }), "apply", ...stdin)).toBe("configmap/a created\n");
      expect(await k.feed(configMap("a", { x: "1", y: "2" }), "apply", ...stdin)).toBe("configmap/a unchanged\n");
      expect(await k.feed(configMap("a", { x: "3" }), "apply", ...stdin)).toBe("configmap/a configured\n");
      expect(await k.run("get", "cm", "a", "-o", "jsonpath={.data}")).toBe('{"x":"3"}');
    },
  },
  {
    name: "apply: a Deployment's containers are merged by name",
    run: async (k) => {
      await k.feed(deployment("web"), "apply", ...stdin);
      await k.run("patch", "deploy", "web", "-p", containers([{ name: "side", image: "side:1" }]));
      const changed = structuredClone(deployment("web"));
      expect(await k.feed(changed, "apply", ...stdin)).toMatch(/^deployment.apps\/web (unchanged|configured)\n$/);
      const path = "jsonpath={.spec.template.spec.containers[*].name}";
      expect((await k.run("get", "deploy", "web", "-o", path)).split(" ").toSorted()).toEqual(["main", "side"]);
    },
  },
  {
    name: "apply --server-side: a conflict names the other, --force-conflicts takes the field",
    run: async (k) => {
      expect(await k.feed(configMap("a", { x: "1" }), ...serverSide)).toBe("configmap/a serverside-applied\n");
      const refused = await k.failsFed(configMap("a", { x: "2" }), ...serverSide, "--field-manager=other");
      expect(refused).toContain('conflict with "kubectl": .data.x');
      expect(refused).toContain("--force-conflicts");
      await k.feed(configMap("a", { x: "2" }), ...serverSide, "--field-manager=other", "--force-conflicts");
      const managers = "jsonpath={.metadata.managedFields[*].manager}";
      expect(await k.run("get", "cm", "a", "-o", managers, "--show-managed-fields")).toBe("other");
    },
  },
  {
    name: "apply --server-side after apply: the fields change hands without a conflict",
    run: async (k) => {
      await k.feed(configMap("a", { x: "1", y: "2" }), "apply", ...stdin);
      await k.feed(configMap("a", { x: "2" }), ...serverSide);
      expect(await k.run("get", "cm", "a", "-o", "jsonpath={.data}")).toBe('{"x":"2"}');
      expect(await k.run("get", "cm", "a", "-o", "jsonpath={.metadata.managedFields[*].operation}")).toBe(
        "Apply Apply",
      );
    },
  },
  {
    name: "apply --server-side: custom resources, their schema and status held to",
    run: async (k) => {
      const group = await gizmos(k);
      expect(await k.feed(gizmo(group, "a"), ...serverSide)).toBe(`gizmo.${group}/a serverside-applied\n`);
      expect(await k.run("get", "gizmo", "a", "-o", "jsonpath={.spec}")).toBe('{"color":"red","size":1}');
      const refused = await k.failsFed(gizmo(group, "a", { color: "green" }), ...serverSide);
      expect(refused).toContain('spec.color: Unsupported value: "green": supported values: "red", "blue"');
      const unknown = await k.failsFed(gizmo(group, "a", { color: "red", colour: "red" }), ...serverSide);
      expect(unknown).toContain(".spec.colour: field not declared in schema");
    },
  },
  {
    name: "apply --dry-run=server: printed, not done",
    run: async (k) => {
      const printed = await k.feed(configMap("a", { x: "1" }), "apply", "--dry-run=server", ...stdin);
      expect(printed).toBe("configmap/a created (server dry run)\n");
      expect(await k.fails("get", "cm", "a")).toContain('configmaps "a" not found');
    },
  },
  {
    name: "apply --prune: what is no longer in the set goes",
    run: async (k) => {
      const set = (...names: readonly string[]) => ({
        apiVersion: "v1",
        kind: "List",
        items: names.map((name) => configMap(name, { x: "1" }, { labels: { set: k.namespace } })),
      });
      const args = ["apply", "--prune", "-l", `set=${k.namespace}`, "--prune-allowlist=core/v1/ConfigMap", ...stdin];
      await k.feed(set("a", "b"), ...args);
      expect(await k.feed(set("b"), ...args)).toContain("configmap/a pruned");
      expect(await k.run("get", "cm", "-l", `set=${k.namespace}`, "-o", "name")).toBe("configmap/b\n");
    },
  },
  {
    name: "diff: what would change, for built-in and custom kinds, by either way of applying",
    run: async (k) => {
      const group = await gizmos(k);
      await k.feed(deployment("web"), "apply", ...stdin);
      await k.feed(gizmo(group, "a"), ...serverSide);
      expect(await k.feed(deployment("web"), "diff", ...stdin)).toBe("");
      const more = await k.failsFed(deployment("web", 3), "diff", ...stdin);
      expect(more).toMatch(/^-\s+replicas: 1$/m);
      expect(more).toMatch(/^\+\s+replicas: 3$/m);
      const blue = await k.failsFed(gizmo(group, "a", { color: "blue" }), "diff", "--server-side", ...stdin);
      expect(blue).toMatch(/^\+\s+color: blue$/m);
    },
  },
  {
    name: "patch: strategic, merge and JSON, and of a status",
    run: async (k) => {
      const group = await gizmos(k);
      await k.feed(deployment("web"), "create", ...stdin);
      await k.run("patch", "deploy", "web", "-p", containers([{ name: "main", image: "main:2" }]));
      await k.run("patch", "deploy", "web", "--type=merge", "-p", '{"spec":{"replicas":4}}');
      await k.run(
        "patch",
        "deploy",
        "web",
        "--type=json",
        "-p",
        '[{"op":"add","path":"/metadata/labels/b","value":"c"}]',
      );
      const path = "jsonpath={.spec.template.spec.containers[0].image} {.spec.replicas} {.metadata.labels.b}";
      expect(await k.run("get", "deploy", "web", "-o", path)).toBe("main:2 4 c");
      await k.feed(gizmo(group, "a"), "create", ...stdin);
      const status = '{"status":{"phase":"Done"},"spec":{"color":"blue"}}';
      await k.run("patch", "gizmo", "a", "--subresource=status", "--type=merge", "-p", status);
      expect(await k.run("get", "gizmo", "a", "-o", "jsonpath={.status.phase} {.spec.color}")).toBe("Done red");
      expect(await k.fails("patch", "gizmo", "a", "-p", "{}")).toContain("strategic-merge-patch+json is not supported");
      expect(await k.run("patch", "deploy", "web", "-p", '{"spec":{"replicas":4}}')).toContain("patched (no change)");
    },
  },
  {
    name: "label, annotate, set image, set env, set resources and set serviceaccount",
    run: async (k) => {
      await k.feed(deployment("web"), "create", ...stdin);
      expect(await k.run("label", "deploy", "web", "a=b")).toBe("deployment.apps/web labeled\n");
      expect(await k.fails("label", "deploy", "web", "a=c")).toContain("'a' already has a value (b)");
      expect(await k.run("label", "deploy", "web", "a-")).toBe("deployment.apps/web unlabeled\n");
      expect(await k.run("annotate", "deploy", "web", "a=b")).toMatch(/^deployment\.apps\/web annotated?\n$/);
      expect(await k.run("set", "image", "deploy/web", "main=main:3")).toBe("deployment.apps/web image updated\n");
      expect(await k.run("set", "env", "deploy/web", "A=b")).toBe("deployment.apps/web env updated\n");
      await k.run("set", "resources", "deploy", "web", "--limits=cpu=200m,memory=64Mi");
      await k.run("set", "serviceaccount", "deploy", "web", "bot");
      const path = "jsonpath={.spec.template.spec.containers[0]} {.spec.template.spec.serviceAccountName}";
      const text = await k.run("get", "deploy", "web", "-o", path);
      expect(text).toContain('"env":[{"name":"A","value":"b"}],"image":"main:3"');
      expect(text).toContain('"resources":{"limits":{"cpu":"200m","memory":"64Mi"}}');
      expect(text).toMatch(/ bot$/);
    },
  },
  {
    name: "edit and replace: through an editor, and --force recreated",
    run: async (k) => {
      await k.feed(configMap("a", { x: "1" }), "create", ...stdin);
      const editor = join(k.dir, "editor.sh");
      writeFileSync(editor, '#!/bin/sh\nsed -i "s/x: .*/x: edited/" "$1"\n');
      chmodSync(editor, 0o700);
      process.env["KUBE_EDITOR"] = editor;
      expect(await k.run("edit", "cm", "a")).toBe("configmap/a edited\n");
      expect(await k.run("get", "cm", "a", "-o", "jsonpath={.data.x}")).toBe("edited");
      expect(await k.feed(configMap("a", { x: "2" }), "replace", ...stdin)).toBe("configmap/a replaced\n");
      const uid = await k.run("get", "cm", "a", "-o", "jsonpath={.metadata.uid}");
      expect(await k.feed(configMap("a", { x: "3" }), "replace", "--force", ...stdin)).toContain(
        "configmap/a replaced",
      );
      expect(await k.run("get", "cm", "a", "-o", "jsonpath={.metadata.uid}")).not.toBe(uid);
    },
  },
  {
    name: "create: strict about unknown and wrong fields, and --validate=warn",
    run: async (k) => {
      const typo = { ...configMap("a", { x: "1" }), dta: {} };
      expect(await k.failsFed(typo, "create", ...stdin)).toContain('unknown field "dta"');
      const wrong = { ...deployment("web"), spec: { replicas: "three" } };
      expect(await k.failsFed(wrong, "create", ...stdin)).toMatch(/replicas/);
      expect(await k.feed(typo, "create", "--validate=warn", ...stdin)).toBe("configmap/a created\n");
      expect(await k.failsFed(configMap("a", {}), "create", ...stdin)).toContain('configmaps "a" already exists');
      expect(await k.failsFed(configMap("A_b", {}), "create", ...stdin)).toContain("Invalid value");
    },
  },
];

function containers(list: readonly unknown[]): string {
  return JSON.stringify({ spec: { template: { spec: { containers: list } } } });
}
