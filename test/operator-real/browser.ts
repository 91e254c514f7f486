/** What a browser does with the dashboard: cookies, forms, and the headers of a proxy with TLS before it. */
import type { Rig } from "./rig.ts";

export interface Page {
  readonly status: number;
  readonly location: string;
  readonly text: string;
}

export interface Browser {
  get(path: string): Promise<Page>;
  /** Sends the form of a page, with what its inputs have already. */
  submit(path: string, page: Page, fields: Readonly<Record<string, string>>): Promise<Page>;
}

/** `address`: where `host` is. */
export function browserOf(rig: Rig, address: string, host: string): Browser {
  const cookies = new Map<string, string>();
  const request = async (path: string, more: readonly string[] = []): Promise<Page> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = [`Host: ${host}`, "X-Forwarded-Proto: https", `Referer: https://${host}/`, `Cookie: ${cookie}`];
    const lines = headers.flatMap((header) => ["-H", header]);
    const said = await rig.inNetwork("curl", "-s", "-i", "-m", "60", ...lines, ...more, `http://${address}${path}`);
    const [head = "", ...rest] = said.split("\r\n\r\n");
    for (const [, name = "", value = ""] of head.matchAll(/^set-cookie: ([^=]+)=([^;]*)/gim)) cookies.set(name, value);
    const [, location = ""] = /^location: (\S+)/im.exec(head) ?? [];
    return { status: Number(head.split(" ")[1]), location, text: rest.join("\r\n\r\n") };
  };
  return {
    get: (path) => request(path),
    submit: (path, page, fields) => {
      const body = new URLSearchParams({ ...inputsOf(page.text), ...fields });
      return request(path, ["--data", body.toString()]);
    },
  };
}

/** Values of the inputs that a form has, by their names. */
function inputsOf(text: string): Record<string, string> {
  const attribute = (tag: string, name: string) =>
    new RegExp(`\\b${name}=(?:"([^"]*)"|'([^']*)')`)
      .exec(tag)
      ?.slice(1)
      .find((each) => each !== undefined);
  return Object.fromEntries(
    [...text.matchAll(/<input\b[^>]*>/g)].flatMap(([tag]) => {
      const name = attribute(tag, "name");
      const value = attribute(tag, "value");
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );
}
