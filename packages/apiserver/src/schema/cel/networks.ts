import { BlockList, isIP, isIPv4, SocketAddress } from "node:net";
import type { CelEnvironment } from "./cel-environment.ts";

class Ip {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  get family(): "ipv4" | "ipv6" {
    return isIPv4(this.text) ? "ipv4" : "ipv6";
  }
  toString(): string {
    return this.text;
  }
}

/** What "ip" is before a dot: ip.isCanonical("::1"). */
class Addresses {}

class Cidr {
  readonly ip: Ip;
  readonly length: number;
  constructor(ip: Ip, length: number) {
    this.ip = ip;
    this.length = length;
  }
  contains(ip: Ip): boolean {
    if (ip.family !== this.ip.family) return false;
    const list = new BlockList();
    list.addSubnet(this.ip.text, this.length, this.ip.family);
    return list.check(ip.text, ip.family);
  }
  /** The first address. */
  network(): Ip {
    const { family, text } = this.ip;
    const bits = family === "ipv4" ? 32 : 128;
    const mask = ((1n << BigInt(this.length)) - 1n) << BigInt(bits - this.length);
    return new Ip(addressOf(numberOf(text, family) & mask, family));
  }
  toString(): string {
    return `${this.ip.text}/${this.length}`;
  }
}

class Url {
  readonly url: URL;
  constructor(url: URL) {
    this.url = url;
  }
}

/** Kubernetes' URL, IP and CIDR libraries. */
export function registerNetworks(environment: CelEnvironment): void {
  environment.registerType("net.IP", { ctor: Ip, fields: {} });
  environment.registerType("net.Addresses", Addresses);
  environment.registerConstant("ip", "net.Addresses", new Addresses());
  environment.registerType("net.CIDR", { ctor: Cidr, fields: {} });
  environment.registerType("kubernetes.URL", { ctor: Url, fields: {} });
  registerIp(environment);
  registerCidr(environment);
  registerUrl(environment);
}

function registerIp(environment: CelEnvironment): void {
  environment
    .registerFunction("isIP(string): bool", (text: string) => isPlainIp(text))
    .registerFunction("ip(string): net.IP", parseIp)
    .registerFunction(
      "net.Addresses.isCanonical(string): bool",
      (_: Addresses, text: string) => parseIp(text).text === text,
    )
    .registerOperator("net.IP == net.IP", (a: Ip, b: Ip) => a.text === b.text)
    .registerFunction("string(net.IP): string", String)
    .registerFunction("net.IP.family(): int", (ip: Ip) => (ip.family === "ipv4" ? 4n : 6n))
    .registerFunction("net.IP.isUnspecified(): bool", (ip: Ip) => within(ip, "0.0.0.0/32", "::/128"))
    .registerFunction("net.IP.isLoopback(): bool", (ip: Ip) => within(ip, "127.0.0.0/8", "::1/128"))
    .registerFunction("net.IP.isLinkLocalMulticast(): bool", (ip: Ip) => within(ip, "224.0.0.0/24", "ff02::/16"))
    .registerFunction("net.IP.isLinkLocalUnicast(): bool", (ip: Ip) => within(ip, "169.254.0.0/16", "fe80::/10"))
    .registerFunction("net.IP.isGlobalUnicast(): bool", isGlobalUnicast);
}

function registerCidr(environment: CelEnvironment): void {
  environment
    .registerFunction("isCIDR(string): bool", (text: string) => readCidr(text) !== undefined)
    .registerFunction("cidr(string): net.CIDR", parseCidr)
    .registerFunction("string(net.CIDR): string", String)
    .registerFunction("net.CIDR.containsIP(string): bool", (cidr: Cidr, ip: string) => cidr.contains(parseIp(ip)))
    .registerFunction("net.CIDR.containsIP(net.IP): bool", (cidr: Cidr, ip: Ip) => cidr.contains(ip))
    .registerFunction("net.CIDR.containsCIDR(string): bool", (a: Cidr, b: string) => covers(a, parseCidr(b)))
    .registerFunction("net.CIDR.containsCIDR(net.CIDR): bool", covers)
    .registerFunction("net.CIDR.ip(): net.IP", (cidr: Cidr) => cidr.ip)
    .registerFunction("net.CIDR.masked(): net.CIDR", (cidr: Cidr) => new Cidr(cidr.network(), cidr.length))
    .registerOperator("net.CIDR == net.CIDR", (a: Cidr, b: Cidr) => String(a) === String(b))
    .registerFunction("net.CIDR.prefixLength(): int", (cidr: Cidr) => BigInt(cidr.length));
}

function registerUrl(environment: CelEnvironment): void {
  environment
    .registerFunction("isURL(string): bool", (text: string) => readUrl(text) !== undefined)
    .registerFunction("url(string): kubernetes.URL", (text: string) => {
      const url = readUrl(text);
      if (url === undefined) throw new Error(`URL parse error during conversion from string: ${text}`);
      return url;
    })
    .registerFunction("kubernetes.URL.getScheme(): string", ({ url }: Url) =>
      isPath(url) ? "" : url.protocol.slice(0, -1),
    )
    .registerFunction("kubernetes.URL.getHost(): string", ({ url }: Url) => (isPath(url) ? "" : url.host))
    .registerFunction("kubernetes.URL.getHostname(): string", ({ url }: Url) =>
      isPath(url) ? "" : url.hostname.replace(/^\[(.*)\]$/, "$1"),
    )
    .registerFunction("kubernetes.URL.getPort(): string", ({ url }: Url) => (isPath(url) ? "" : url.port))
    .registerFunction("kubernetes.URL.getEscapedPath(): string", ({ url }: Url) => url.pathname)
    .registerFunction("kubernetes.URL.getQuery(): map<string, list<string>>", ({ url }: Url) =>
      Object.fromEntries([...new Set(url.searchParams.keys())].map((name) => [name, url.searchParams.getAll(name)])),
    );
}

function isPlainIp(text: string): boolean {
  // Zones and IPv4 inside IPv6 are refused, as there.
  return isIP(text) !== 0 && !text.includes("%") && !/^::ffff:\d+\./i.test(text);
}

function parseIp(text: string): Ip {
  if (!isPlainIp(text)) throw new Error(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
  return new Ip(new SocketAddress({ address: text, family: isIPv4(text) ? "ipv4" : "ipv6" }).address);
}

function readCidr(text: string): Cidr | undefined {
  const slash = text.lastIndexOf("/");
  const [address, length] = [text.slice(0, slash), text.slice(slash + 1)];
  if (slash < 0 || !isPlainIp(address) || !/^(0|[1-9]\d{0,2})$/.test(length)) return undefined;
  return Number(length) <= (isIPv4(address) ? 32 : 128) ? new Cidr(parseIp(address), Number(length)) : undefined;
}

function parseCidr(text: string): Cidr {
  const cidr = readCidr(text);
  if (cidr === undefined) throw new Error(`network address parse error during conversion from string: ${text}`);
  return cidr;
}

function covers(outer: Cidr, inner: Cidr): boolean {
  return inner.length >= outer.length && outer.contains(inner.ip);
}

function within(ip: Ip, v4: string, v6: string): boolean {
  return parseCidr(ip.family === "ipv4" ? v4 : v6).contains(ip);
}

function isGlobalUnicast(ip: Ip): boolean {
  const elsewhere: readonly [string, string][] = [
    ["0.0.0.0/32", "::/128"],
    ["127.0.0.0/8", "::1/128"],
    ["224.0.0.0/4", "ff00::/8"],
    ["169.254.0.0/16", "fe80::/10"],
    ["255.255.255.255/32", "::/128"],
  ];
  return !elsewhere.some(([v4, v6]) => within(ip, v4, v6));
}

const PATH_BASE = "path://";

/** An absolute URI or an absolute path. */
function readUrl(text: string): Url | undefined {
  if (text.startsWith("/")) return new Url(new URL(`${PATH_BASE}${text}`));
  return /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text) ? new Url(new URL(text)) : undefined;
}

function isPath(url: URL): boolean {
  return url.href.startsWith(PATH_BASE);
}

function numberOf(text: string, family: "ipv4" | "ipv6"): bigint {
  if (family === "ipv4") return text.split(".").reduce((n, part) => (n << 8n) | BigInt(part), 0n);
  const [head = "", tail] = text.split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const filled = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: filled }, () => "0"), ...groups(tail ?? "")];
  return all.reduce((n, group) => (n << 16n) | BigInt(`0x${group}`), 0n);
}

function addressOf(value: bigint, family: "ipv4" | "ipv6"): string {
  const width = family === "ipv4" ? 8n : 16n;
  const count = family === "ipv4" ? 4 : 8;
  const parts = Array.from(
    { length: count },
    (_, i) => (value >> (width * BigInt(count - 1 - i))) & ((1n << width) - 1n),
  );
  const address = family === "ipv4" ? parts.join(".") : parts.map((p) => p.toString(16)).join(":");
  return new SocketAddress({ address, family }).address;
}
