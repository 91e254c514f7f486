/**
 * Splits a line into words as systemd does for `$KUBELET_KUBEADM_ARGS` in the kubelet's unit: at spaces, with quotes
 * removed wherever in a word they are, and a backslash taking the next character as it is.
 * @see https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html#Command%20lines
 */
export function serviceWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (character === "\\") {
      at += 1;
      word = (word ?? "") + line.charAt(at);
    } else if (quote !== "") {
      if (character === quote) quote = "";
      else word = (word ?? "") + character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= "";
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}
