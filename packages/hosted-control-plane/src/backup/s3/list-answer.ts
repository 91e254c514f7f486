/** The answer of ListObjectsV2 has no nesting of equal names and no attributes: two patterns read what is needed. */

/** The names of objects in a list that was requested with `encoding-type=url`. */
export function keysOf(xml: string): string[] {
  // Some servers do not know the parameter, and encode nothing.
  const isEncoded = textOf(xml, "EncodingType") === "url";
  return [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].flatMap(([, content = ""]) => {
    const key = textOf(content, "Key");
    if (key === undefined) return [];
    return [isEncoded ? decoded(key) : key];
  });
}

/** The text of the first element of a name. */
export function textOf(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}>`);
  const end = start === -1 ? -1 : xml.indexOf(`</${name}>`, start);
  return end === -1 ? undefined : unescaped(xml.slice(start + name.length + 2, end));
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));/g,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return entities[name] ?? whole;
      const point = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    },
  );
}

/** Some servers have "+" for a space. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    return key;
  }
}
