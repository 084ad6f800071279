// @ts-check
// Starts what the pages do beyond links and forms. Every page works without it.
import * as boxes from './boxes.js';
import * as complete from './complete.js';
import * as copy from './copy.js';
import * as facets from './facets.js';
import * as file from './file.js';
import * as findFile from './find_file.js';
import * as form from './form.js';
import * as keys from './keys.js';
import * as marks from './marks.js';
import * as moreLines from './more_lines.js';
import * as move from './move.js';
import * as options from './options.js';
import * as outline from './outline.js';
import * as recent from './recent.js';
import * as running from './running.js';
import * as symbol from './symbol.js';
import * as theme from './theme.js';
import * as tree from './tree.js';

theme.start();
keys.start();
form.start();
file.start();
outline.start();
symbol.start();
findFile.start();
tree.start();
marks.start();
moreLines.start();
options.start();
move.start();
boxes.start();
copy.start();
recent.start();
complete.start();
facets.start();
running.start();
