// Plain JavaScript: cli/install.mjs uses it before anything is installed.

const REMEDIES = [
  {
    pattern: /\b(EACCES|EPERM|EROFS)\b/,
    remedy: 'It cannot be written. Use a folder that you can write to.',
  },
  {
    pattern: /\b(ENOSPC|EDQUOT)\b|No space left on device/,
    remedy: 'The disk is full. Free 500 MB, and inodes (df -i), and try again.',
  },
  {
    pattern: /\b(EMFILE|ENFILE)\b/,
    remedy: 'Too many files are open. Raise the limit, such as with ulimit -n 4096, and try again.',
  },
]

/**
 * Returns what to do about an error of the file system that a text names; undefined when it names none.
 *
 * @param {string} text
 * @returns {string | undefined}
 */
export const diskRemedy = (text) => REMEDIES.find(({ pattern }) => pattern.test(text))?.remedy
