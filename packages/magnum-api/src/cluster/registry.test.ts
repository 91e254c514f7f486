import { describe, expect, it } from "vitest";
import { isRegistry } from "./registry.ts";
import { made } from "../testing/nodes.ts";

const FILE = "/etc/containerd/certs.d/10.0.0.1:5000/hosts.toml";

describe("an insecure registry of a template", () => {
  it("is what containerd of the nodes pulls from, by HTTPS with any certificate or by HTTP", () => {
    const { files = [], preKubeadmCommands } = made({ insecureRegistry: "10.0.0.1:5000" }, { nodeRegistry: true });
    expect(files.map(({ path, permissions }) => `${path} ${permissions}`)).toEqual([`${FILE} 0644`]);
    expect(files[0]?.content?.split("\n")).toEqual([
      'server = "https://10.0.0.1:5000"',
      "",
      '[host."https://10.0.0.1:5000"]',
      '  capabilities = ["pull", "resolve"]',
      "  skip_verify = true",
      "",
      '[host."http://10.0.0.1:5000"]',
      '  capabilities = ["pull", "resolve"]',
      "",
    ]);
    expect(preKubeadmCommands).toEqual([]);
  });

  it("is next to the template's proxies", () => {
    const template = { insecureRegistry: "10.0.0.1:5000", httpProxy: "http://proxy:3128" };
    const { files = [], preKubeadmCommands } = made(template, { nodeRegistry: true, nodeProxies: true });
    expect(files.map(({ path }) => path)).toEqual(["/etc/systemd/system/containerd.service.d/http-proxy.conf", FILE]);
    expect(preKubeadmCommands).toEqual(["systemctl daemon-reload && systemctl try-restart containerd"]);
  });

  it("replaces no node of a cluster from before, nor of one without it", () => {
    const before = made({}, {});
    expect(made({ insecureRegistry: "10.0.0.1:5000" }, {})).toEqual(before);
    expect(made({}, { nodeRegistry: true })).toEqual(before);
    expect(made({ insecureRegistry: "10.0.0.1:5000" }, { nodeRegistry: true }).name).not.toBe(before.name);
  });

  it.each(['r"\nskip', "../../etc/passwd", "r/path", "http://r", "r:port", "-r", "r.", "", `${"a".repeat(255)}`])(
    "is nothing but a name and a port: %j reaches no file",
    (insecureRegistry) => {
      expect(isRegistry(insecureRegistry)).toBe(false);
      expect(made({ insecureRegistry }, { nodeRegistry: true })).not.toHaveProperty("files");
    },
  );
});
