import type { KubeadmConfigSpec } from "@causeway/api";
import { cloudConfig } from "@causeway/cluster-api";
import { joinConfiguration, readCloudConfig } from "@causeway/machine-agent";
import fc from "fast-check";
import { expect, test } from "vitest";

const word = (length: number) => fc.stringMatching(new RegExp(`^[a-z0-9]{${length}}$`));
const text = fc.string().filter((t) => !/\{\{|\{%|\{#/.test(t));
/**
 * What systemd leaves as it is when it splits kubeadm's line of kubelet flags: neither spaces nor quotes nor
 * backslashes.
 */
const flagValue = text.filter((t) => /^[^\s"'\\\p{C}]*$/u.test(t));
const hex = fc.stringMatching(/^[0-9a-f]{64}$/);

const facts = fc.record({
  machine: word(12),
  version: fc.constantFrom("v1.30.4", "v1.31.0", "v1.34.0", undefined),
  endpoint: fc.tuple(fc.ipV4(), fc.integer({ min: 1, max: 65535 })).map(([host, port]) => `${host}:${port}`),
  token: fc.tuple(word(6), word(16)).map((parts) => parts.join(".")),
  caCertHashes: fc.array(hex, { minLength: 1, maxLength: 2 }).map((all) => all.map((h) => `sha256:${h}`)),
});

const spec = fc.record({
  files: fc.uniqueArray(fc.record({ path: word(8).map((w) => `/etc/${w}`), content: text }), {
    selector: (f) => f.path,
  }),
  preKubeadmCommands: fc.array(text.filter((t) => !/kubeadm/.test(t))),
  joinConfiguration: fc.record({
    nodeRegistration: fc.record({
      kubeletExtraArgs: fc.uniqueArray(fc.record({ name: word(6), value: flagValue }), { selector: (a) => a.name }),
    }),
  }),
});

test("a machine reads from its user data what the bootstrap wrote, for every version of kubeadm's API", () => {
  fc.assert(
    fc.property(spec, facts, (wanted, given) => {
      const userData = cloudConfig(wanted as unknown as KubeadmConfigSpec, given, new Map());
      const boot = readCloudConfig(userData, { hostname: given.machine, instanceId: "i" });
      for (const file of wanted.files) expect(boot.files.get(file.path)).toBe(file.content);
      expect(boot.commands.slice(0, wanted.preKubeadmCommands.length)).toEqual(wanted.preKubeadmCommands);
      const join = joinConfiguration(boot);
      expect(join).toMatchObject({
        nodeName: given.machine,
        token: given.token,
        server: `https://${given.endpoint}`,
        caCertHashes: given.caCertHashes,
        taints: [{ key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" }],
      });
      const args = wanted.joinConfiguration.nodeRegistration.kubeletExtraArgs;
      expect(join.kubeletArgs).toEqual(Object.fromEntries(args.map(({ name, value }) => [name, value])));
    }),
  );
});
