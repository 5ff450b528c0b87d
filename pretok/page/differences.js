// The regions of a text that two splits cut differently. A split has pieces: pre-tokens or tokens.

/**
 * Return the regions as [start, end, start, end, …], in bytes.
 *
 * A cut is a byte offset at which a piece starts or ends. A region lies between two successive cuts
 * that both splits share. In a region, one split has further cuts, or only one split has a piece.
 * `a` and `b` are two splits of a text of `length` bytes: the `starts` and `ends` of the pieces, in
 * order.
 */
export function differences(a, b, length) {
  const [first, second] = [cuts(a, length), cuts(b, length)];
  const regions = [];
  let [i, j, lastI, lastJ] = [0, 0, 0, 0];
  while (i < first.at.length && j < second.at.length) {
    if (first.at[i] < second.at[j]) i++;
    else if (first.at[i] > second.at[j]) j++;
    else {
      const isCut = i - lastI > 1 || j - lastJ > 1;
      if (isCut || first.isGap[i] !== second.isGap[j]) regions.push(first.at[lastI], first.at[i]);
      [lastI, lastJ] = [i++, j++];
    }
  }
  return Uint32Array.from(regions);
}

/**
 * Return {at, isGap}: all cuts from 0 to `length`, and for each cut, 1 if the text between the
 * previous cut and this cut is in no piece, else 0.
 */
function cuts({ starts, ends }, length) {
  const at = new Uint32Array(2 * starts.length + 2);
  const isGap = new Uint8Array(at.length);
  let count = 1;
  const add = (cut, gap) => {
    if (cut <= at[count - 1]) return;
    at[count] = cut;
    isGap[count++] = gap;
  };
  for (let i = 0; i < starts.length; i++) {
    add(starts[i], 1);
    add(ends[i], 0);
  }
  add(length, 1);
  return { at: at.subarray(0, count), isGap };
}

/** Return the index, from 0, of the first region that ends after byte `position`. */
export function regionAfter(regions, position) {
  let [low, high] = [0, regions.length / 2];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (regions[2 * middle + 1] > position) high = middle;
    else low = middle + 1;
  }
  return low;
}
