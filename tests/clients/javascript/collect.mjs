// The pieces of a stream as a list.

/** What `pick` finds in each piece of `stream`, where it finds something. */
export async function collect(stream, pick) {
  const found = [];
  for await (const piece of stream) {
    const value = pick(piece);
    if (value !== undefined && value !== null) found.push(value);
  }
  return found;
}
